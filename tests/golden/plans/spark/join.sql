SELECT count(*), count(DISTINCT a.`unit`), coalesce(CAST(CAST(sum(shiftright(CAST(a.`c4` AS BIGINT), 42)) AS DECIMAL(20, 0)) * 4398046511104BD + CAST(sum(shiftright(CAST(a.`c4` AS BIGINT), 21) & 2097151) AS DECIMAL(20, 0)) * 2097152BD + CAST(sum(CAST(a.`c4` AS BIGINT) & 2097151) AS DECIMAL(20, 0)) AS DECIMAL(38, 0)), 0), coalesce(CAST(CAST(sum(shiftright(CAST((CAST(a.`c1` AS BIGINT) * CAST(a.`c4` AS BIGINT)) AS BIGINT), 42)) AS DECIMAL(20, 0)) * 4398046511104BD + CAST(sum(shiftright(CAST((CAST(a.`c1` AS BIGINT) * CAST(a.`c4` AS BIGINT)) AS BIGINT), 21) & 2097151) AS DECIMAL(20, 0)) * 2097152BD + CAST(sum(CAST((CAST(a.`c1` AS BIGINT) * CAST(a.`c4` AS BIGINT)) AS BIGINT) & 2097151) AS DECIMAL(20, 0)) AS DECIMAL(38, 0)), 0)
FROM (
  SELECT a.`unit` AS `unit`, b.`c4` AS `c4`, a.`c1` AS `c1`
  FROM (
    SELECT `prepared rows`.`pid` AS `unit`, `prepared rows`.`age` AS `c1`
    FROM prepared_people AS `prepared rows`
    WHERE `prepared rows`.`ord` <= 2
  ) AS a
  JOIN (
    SELECT `prepared rows`.`pid` AS `unit`, `prepared rows`.`cost` AS `c4`
    FROM prepared_visits AS `prepared rows`
    WHERE `prepared rows`.`ord` <= 2
  ) AS b ON a.`unit` = b.`unit`
) AS a;
