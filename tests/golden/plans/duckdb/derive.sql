SELECT coalesce(sum(a."c29"), 0)
FROM (
  SELECT (CAST(a."c1" AS BIGINT) * CAST(2 AS BIGINT)) AS "c29"
  FROM (
    SELECT "prepared rows"."age" AS "c1"
    FROM prepared_people AS "prepared rows"
    WHERE "prepared rows"."ord" <= 2
  ) AS a
) AS a;
