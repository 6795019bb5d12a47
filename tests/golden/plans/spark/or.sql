SELECT count(*)
FROM (
  SELECT 1 AS `_discreet_one`
  FROM prepared_people AS r
  WHERE `ord` <= 2 AND ((`region` IS NULL) OR (`note` IN ('flu')))
) AS a;
