SELECT coalesce(sum(CAST(CASE WHEN (a.`c1` BETWEEN 0 AND 50) THEN CAST(1 AS BIGINT) WHEN (a.`c1` IS NULL) THEN CAST(5 AS BIGINT) ELSE CAST(9 AS BIGINT) END AS DECIMAL(38, 0))), 0), count(CASE WHEN (a.`c1` BETWEEN 0 AND 50) THEN CAST(1 AS BIGINT) WHEN (a.`c1` IS NULL) THEN CAST(5 AS BIGINT) ELSE CAST(9 AS BIGINT) END)
FROM (
  SELECT `prepared rows`.`age` AS `c1`
  FROM prepared_people AS `prepared rows`
  WHERE `prepared rows`.`ord` <= 2
) AS a;
