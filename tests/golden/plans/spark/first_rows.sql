SELECT count(*), coalesce(sum(CAST(a.`c1` AS DECIMAL(38, 0))), 0)
FROM (
  SELECT `prepared rows`.`age` AS `c1`
  FROM prepared_people AS `prepared rows`
  WHERE `prepared rows`.`ord` <= 1
) AS a;
