SELECT count(*), coalesce(CAST(CAST(sum(shiftright(CAST((CAST(a.`c31` AS BIGINT) + CAST(a.`c13` AS BIGINT)) AS BIGINT), 42)) AS DECIMAL(20, 0)) * 4398046511104BD + CAST(sum(shiftright(CAST((CAST(a.`c31` AS BIGINT) + CAST(a.`c13` AS BIGINT)) AS BIGINT), 21) & 2097151) AS DECIMAL(20, 0)) * 2097152BD + CAST(sum(CAST((CAST(a.`c31` AS BIGINT) + CAST(a.`c13` AS BIGINT)) AS BIGINT) & 2097151) AS DECIMAL(20, 0)) AS DECIMAL(38, 0)), 0)
FROM (
  SELECT b.`c31` AS `c31`, a.`c13` AS `c13`
  FROM (
    SELECT a.`unit` AS `unit`, count(*) AS `c13`
    FROM (
      SELECT `prepared rows`.`pid` AS `unit`
      FROM prepared_people AS `prepared rows`
      WHERE `prepared rows`.`ord` <= 2
    ) AS a
    GROUP BY a.`unit`
  ) AS a
  JOIN (
    SELECT a.`unit` AS `unit`, CAST(CAST(CAST(sum(shiftright(CAST(a.`c4` AS BIGINT), 42)) AS DECIMAL(20, 0)) * 4398046511104BD + CAST(sum(shiftright(CAST(a.`c4` AS BIGINT), 21) & 2097151) AS DECIMAL(20, 0)) * 2097152BD + CAST(sum(CAST(a.`c4` AS BIGINT) & 2097151) AS DECIMAL(20, 0)) AS DECIMAL(38, 0)) AS BIGINT) AS `c31`
    FROM (
      SELECT `prepared rows`.`pid` AS `unit`, `prepared rows`.`cost` AS `c4`
      FROM prepared_visits AS `prepared rows`
      WHERE `prepared rows`.`ord` <= 2
    ) AS a
    GROUP BY a.`unit`
  ) AS b ON a.`unit` = b.`unit`
) AS a;
