SELECT count(*), count(DISTINCT a."unit"), coalesce(sum(a."c4"), 0), coalesce(sum((CAST(a."c1" AS BIGINT) * CAST(a."c4" AS BIGINT))), 0)
FROM (
  SELECT a."unit" AS "unit", b."c4" AS "c4", a."c1" AS "c1"
  FROM (
    SELECT "prepared rows"."pid" AS "unit", "prepared rows"."age" AS "c1"
    FROM prepared_people AS "prepared rows"
    WHERE "prepared rows"."ord" <= 2
  ) AS a
  JOIN (
    SELECT "prepared rows"."pid" AS "unit", "prepared rows"."cost" AS "c4"
    FROM prepared_visits AS "prepared rows"
    WHERE "prepared rows"."ord" <= 2
  ) AS b ON a."unit" = b."unit"
) AS a;
