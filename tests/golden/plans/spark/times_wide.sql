SELECT coalesce(sum(CAST((abs(CAST(`gain` AS BIGINT)) * CAST(greatest(CAST(4500 AS BIGINT), CAST(NULL AS BIGINT)) AS BIGINT)) AS DECIMAL(38, 0))), 0), count((abs(CAST(`gain` AS BIGINT)) * CAST(greatest(CAST(4500 AS BIGINT), CAST(NULL AS BIGINT)) AS BIGINT)))
FROM (
  SELECT `gain`
  FROM prepared_people AS r
  WHERE `ord` <= 2
) AS a;
