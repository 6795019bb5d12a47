SELECT count(*), coalesce(CAST(CAST(sum(shiftright(CAST(a.`c1` AS BIGINT), 42)) AS DECIMAL(20, 0)) * 4398046511104BD + CAST(sum(shiftright(CAST(a.`c1` AS BIGINT), 21) & 2097151) AS DECIMAL(20, 0)) * 2097152BD + CAST(sum(CAST(a.`c1` AS BIGINT) & 2097151) AS DECIMAL(20, 0)) AS DECIMAL(38, 0)), 0), coalesce(CAST(CAST(sum(shiftright(CAST(a.`c26` AS BIGINT), 42)) AS DECIMAL(20, 0)) * 4398046511104BD + CAST(sum(shiftright(CAST(a.`c26` AS BIGINT), 21) & 2097151) AS DECIMAL(20, 0)) * 2097152BD + CAST(sum(CAST(a.`c26` AS BIGINT) & 2097151) AS DECIMAL(20, 0)) AS DECIMAL(38, 0)), 0), coalesce(CAST(CAST(sum(shiftright(CAST((CAST(a.`c22` AS BIGINT) + CAST(a.`c26` AS BIGINT)) AS BIGINT), 42)) AS DECIMAL(20, 0)) * 4398046511104BD + CAST(sum(shiftright(CAST((CAST(a.`c22` AS BIGINT) + CAST(a.`c26` AS BIGINT)) AS BIGINT), 21) & 2097151) AS DECIMAL(20, 0)) * 2097152BD + CAST(sum(CAST((CAST(a.`c22` AS BIGINT) + CAST(a.`c26` AS BIGINT)) AS BIGINT) & 2097151) AS DECIMAL(20, 0)) AS DECIMAL(38, 0)), 0)
FROM (
  SELECT a.`c1` AS `c1`, b.`c26` AS `c26`, a.`c22` AS `c22`
  FROM (
    SELECT a.`unit` AS `unit`, a.`c1` AS `c1`, CAST(1 AS BIGINT) AS `c22`
    FROM (
      SELECT `prepared rows`.`pid` AS `unit`, `prepared rows`.`age` AS `c1`
      FROM prepared_people AS `prepared rows`
      WHERE `prepared rows`.`ord` <= 2
    ) AS a
  ) AS a
  JOIN (
    SELECT `prepared rows`.`pid` AS `unit`, `prepared rows`.`age` AS `c26`
    FROM prepared_people AS `prepared rows`
    WHERE `prepared rows`.`ord` <= 1
  ) AS b ON a.`unit` = b.`unit`
) AS a;
