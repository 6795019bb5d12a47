SELECT coalesce(sum(abs((CAST("age" AS BIGINT) + CAST(-60 AS BIGINT)))), 0), count(abs((CAST("age" AS BIGINT) + CAST(-60 AS BIGINT))))
FROM (
  SELECT "age"
  FROM prepared_people AS r
  WHERE "ord" <= 2
) AS a;
