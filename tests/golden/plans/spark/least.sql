SELECT coalesce(sum(CAST(least(CAST(`age` AS BIGINT), CAST(50 AS BIGINT)) AS DECIMAL(38, 0))), 0), count(least(CAST(`age` AS BIGINT), CAST(50 AS BIGINT)))
FROM (
  SELECT `age`
  FROM prepared_people AS r
  WHERE `ord` <= 2
) AS a;
