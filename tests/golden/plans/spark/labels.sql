SELECT count(*), count(DISTINCT a.`unit`), coalesce(CAST(CAST(sum(shiftright(CAST(a.`c6` AS BIGINT), 42)) AS DECIMAL(20, 0)) * 4398046511104BD + CAST(sum(shiftright(CAST(a.`c6` AS BIGINT), 21) & 2097151) AS DECIMAL(20, 0)) * 2097152BD + CAST(sum(CAST(a.`c6` AS BIGINT) & 2097151) AS DECIMAL(20, 0)) AS DECIMAL(38, 0)), 0), coalesce(CAST(CAST(sum(shiftright(CAST(a.`c7` AS BIGINT), 42)) AS DECIMAL(20, 0)) * 4398046511104BD + CAST(sum(shiftright(CAST(a.`c7` AS BIGINT), 21) & 2097151) AS DECIMAL(20, 0)) * 2097152BD + CAST(sum(CAST(a.`c7` AS BIGINT) & 2097151) AS DECIMAL(20, 0)) AS DECIMAL(38, 0)), 0), coalesce(CAST(CAST(sum(shiftright(CAST(a.`c8` AS BIGINT), 42)) AS DECIMAL(20, 0)) * 4398046511104BD + CAST(sum(shiftright(CAST(a.`c8` AS BIGINT), 21) & 2097151) AS DECIMAL(20, 0)) * 2097152BD + CAST(sum(CAST(a.`c8` AS BIGINT) & 2097151) AS DECIMAL(20, 0)) AS DECIMAL(38, 0)), 0), coalesce(CAST(CAST(sum(shiftright(CAST((CAST(a.`c9` AS BIGINT) + CAST(a.`c30` AS BIGINT)) AS BIGINT), 42)) AS DECIMAL(20, 0)) * 4398046511104BD + CAST(sum(shiftright(CAST((CAST(a.`c9` AS BIGINT) + CAST(a.`c30` AS BIGINT)) AS BIGINT), 21) & 2097151) AS DECIMAL(20, 0)) * 2097152BD + CAST(sum(CAST((CAST(a.`c9` AS BIGINT) + CAST(a.`c30` AS BIGINT)) AS BIGINT) & 2097151) AS DECIMAL(20, 0)) AS DECIMAL(38, 0)), 0), coalesce(CAST(CAST(sum(shiftright(CAST((CAST(a.`c11` AS BIGINT) + CAST(a.`c12` AS BIGINT) + CAST(a.`c13` AS BIGINT)) AS BIGINT), 42)) AS DECIMAL(20, 0)) * 4398046511104BD + CAST(sum(shiftright(CAST((CAST(a.`c11` AS BIGINT) + CAST(a.`c12` AS BIGINT) + CAST(a.`c13` AS BIGINT)) AS BIGINT), 21) & 2097151) AS DECIMAL(20, 0)) * 2097152BD + CAST(sum(CAST((CAST(a.`c11` AS BIGINT) + CAST(a.`c12` AS BIGINT) + CAST(a.`c13` AS BIGINT)) AS BIGINT) & 2097151) AS DECIMAL(20, 0)) AS DECIMAL(38, 0)), 0), coalesce(CAST(CAST(sum(shiftright(CAST(a.`c10` AS BIGINT), 42)) AS DECIMAL(20, 0)) * 4398046511104BD + CAST(sum(shiftright(CAST(a.`c10` AS BIGINT), 21) & 2097151) AS DECIMAL(20, 0)) * 2097152BD + CAST(sum(CAST(a.`c10` AS BIGINT) & 2097151) AS DECIMAL(20, 0)) AS DECIMAL(38, 0)), 0)
FROM (
  SELECT a.`unit` AS `unit`, a.`c6` AS `c6`, a.`c7` AS `c7`, a.`c8` AS `c8`, a.`c9` AS `c9`, a.`c30` AS `c30`, a.`c11` AS `c11`, a.`c12` AS `c12`, a.`c13` AS `c13`, a.`c10` AS `c10`
  FROM (
    SELECT a.`unit` AS `unit`, a.`c6` AS `c6`, a.`c7` AS `c7`, a.`c8` AS `c8`, a.`c9` AS `c9`, a.`c30` AS `c30`, a.`c11` AS `c11`, a.`c12` AS `c12`, b.`c13` AS `c13`, a.`c10` AS `c10`
    FROM (
      SELECT a.`unit` AS `unit`, a.`c6` AS `c6`, a.`c7` AS `c7`, a.`c8` AS `c8`, a.`c9` AS `c9`, b.`c30` AS `c30`, a.`c11` AS `c11`, a.`c12` AS `c12`, a.`c10` AS `c10`
      FROM (
        SELECT `prepared rows`.`pid` AS `unit`, `prepared rows`.`c0` AS `c6`, `prepared rows`.`c1` AS `c7`, `prepared rows`.`unit` AS `c8`, `prepared rows`.`entry` AS `c9`, `prepared rows`.`a` AS `c11`, `prepared rows`.`b` AS `c12`, `prepared rows`.`one` AS `c10`
        FROM prepared_labels AS `prepared rows`
        WHERE `prepared rows`.`ord` <= 2
      ) AS a
      JOIN (
        VALUES (CAST(1 AS BIGINT), CAST(10 AS BIGINT)), (2, 20)
      ) AS b(`entry`, `c30`) ON a.`c6` = b.`entry`
    ) AS a
    JOIN (
      SELECT a.`unit` AS `unit`, count(*) AS `c13`
      FROM (
        SELECT `prepared rows`.`pid` AS `unit`
        FROM prepared_people AS `prepared rows`
        WHERE `prepared rows`.`ord` <= 2
      ) AS a
      GROUP BY a.`unit`
    ) AS b ON a.`unit` = b.`unit`
  ) AS a
  WHERE (a.`c8` >= 0)
) AS a;
