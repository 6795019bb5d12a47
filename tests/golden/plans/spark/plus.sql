SELECT coalesce(sum(CAST((CAST(a.`c1` AS BIGINT) + CAST(a.`c2` AS BIGINT)) AS DECIMAL(38, 0))), 0), count((CAST(a.`c1` AS BIGINT) + CAST(a.`c2` AS BIGINT)))
FROM (
  SELECT `prepared rows`.`age` AS `c1`, `prepared rows`.`gain` AS `c2`
  FROM prepared_people AS `prepared rows`
  WHERE `prepared rows`.`ord` <= 2
) AS a;
