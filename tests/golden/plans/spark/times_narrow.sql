SELECT coalesce(sum(CAST((CAST(`age` AS BIGINT) * CAST(`age` AS BIGINT)) AS DECIMAL(38, 0))), 0), count((CAST(`age` AS BIGINT) * CAST(`age` AS BIGINT)))
FROM (
  SELECT `age`
  FROM prepared_people AS r
  WHERE `ord` <= 2
) AS a;
