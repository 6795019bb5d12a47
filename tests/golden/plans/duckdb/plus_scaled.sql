SELECT 3 * coalesce(sum("age"), 0) + 1 * CAST(count("age") AS HUGEINT), count(((CAST(3 AS BIGINT) * CAST("age" AS BIGINT)) + CAST(1 AS BIGINT)))
FROM (
  SELECT "age"
  FROM prepared_people AS r
  WHERE "ord" <= 2
) AS a;
