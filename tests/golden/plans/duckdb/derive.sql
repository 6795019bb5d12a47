SELECT coalesce(sum("twice"), 0)
FROM (
  SELECT (CAST("age" AS BIGINT) * CAST(2 AS BIGINT)) AS "twice"
  FROM (
    SELECT "age"
    FROM prepared_people AS r
    WHERE "ord" <= 2
  ) AS a
) AS a;
