SELECT coalesce(sum((CAST("age" AS BIGINT) + CAST("gain" AS BIGINT))), 0), count((CAST("age" AS BIGINT) + CAST("gain" AS BIGINT)))
FROM (
  SELECT "age", "gain"
  FROM prepared_people AS r
  WHERE "ord" <= 2
) AS a;
