SELECT coalesce(sum("age"), 0) + -60 * CAST(count("age") AS HUGEINT), count((CAST("age" AS BIGINT) + CAST(-60 AS BIGINT)))
FROM (
  SELECT "age"
  FROM prepared_people AS r
  WHERE "ord" <= 2
) AS a;
