SELECT coalesce(sum(coalesce(CAST("age" AS BIGINT), CAST(7 AS BIGINT))), 0), count(coalesce(CAST("age" AS BIGINT), CAST(7 AS BIGINT)))
FROM (
  SELECT "age"
  FROM prepared_people AS r
  WHERE "ord" <= 2
) AS a;
