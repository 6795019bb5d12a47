SELECT count(*), coalesce(sum(CAST(`age` AS DECIMAL(38, 0))), 0)
FROM (
  SELECT `age`
  FROM prepared_people AS r
  WHERE `ord` <= 1
) AS a;
