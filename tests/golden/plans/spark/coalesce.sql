SELECT coalesce(sum(CAST(coalesce(CAST(`age` AS BIGINT), CAST(7 AS BIGINT)) AS DECIMAL(38, 0))), 0), count(coalesce(CAST(`age` AS BIGINT), CAST(7 AS BIGINT)))
FROM (
  SELECT `age`
  FROM prepared_people AS r
  WHERE `ord` <= 2
) AS a;
