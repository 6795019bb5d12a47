SELECT coalesce(sum(CAST(CASE WHEN CAST(a.`c1` AS BIGINT) < 40 THEN 40 WHEN CAST(a.`c1` AS BIGINT) > 40 THEN 40 ELSE CAST(a.`c1` AS BIGINT) END AS DECIMAL(38, 0))), 0), count(CASE WHEN CAST(a.`c1` AS BIGINT) < 40 THEN 40 WHEN CAST(a.`c1` AS BIGINT) > 40 THEN 40 ELSE CAST(a.`c1` AS BIGINT) END)
FROM (
  SELECT `prepared rows`.`age` AS `c1`
  FROM prepared_people AS `prepared rows`
  WHERE `prepared rows`.`ord` <= 2
) AS a;
