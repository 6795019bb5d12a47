SELECT coalesce(sum(CAST("age" AS BIGINT)), 0), count(CAST("age" AS BIGINT))
FROM (
  SELECT "age"
  FROM prepared_people AS r
  WHERE "ord" <= 2
) AS a;
