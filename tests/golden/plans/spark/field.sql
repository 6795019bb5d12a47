SELECT coalesce(sum(CAST(a.`c1` AS DECIMAL(38, 0))), 0), count(a.`c1`)
FROM (
  SELECT `prepared rows`.`age` AS `c1`
  FROM prepared_people AS `prepared rows`
  WHERE `prepared rows`.`ord` <= 2
) AS a;
