SELECT coalesce(sum(CAST(CAST(NULL AS BIGINT) AS DECIMAL(38, 0))), 0), count(CAST(NULL AS BIGINT))
FROM (
  SELECT 1 AS `one`
  FROM prepared_people AS `prepared rows`
  WHERE `prepared rows`.`ord` <= 2
) AS a;
