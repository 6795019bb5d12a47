SELECT coalesce(sum(least(CAST("age" AS BIGINT), CAST(50 AS BIGINT))), 0), count(least(CAST("age" AS BIGINT), CAST(50 AS BIGINT)))
FROM (
  SELECT "age"
  FROM prepared_people AS r
  WHERE "ord" <= 2
) AS a;
