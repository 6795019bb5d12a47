SELECT count(*), coalesce(sum(a."c13"), 0), coalesce(sum(a."c14"), 0), coalesce(sum(a."c15"), 0), count(a."c15"), coalesce(sum(a."c16"), 0), coalesce(sum(a."c17"), 0)
FROM (
  SELECT count(*) AS "c13", count(a."c1") AS "c14", CAST(sum(a."c1") AS BIGINT) AS "c15", min(a."c2") AS "c16", max(a."c2") AS "c17"
  FROM (
    SELECT "prepared rows"."pid" AS "unit", "prepared rows"."age" AS "c1", "prepared rows"."gain" AS "c2"
    FROM prepared_people AS "prepared rows"
    WHERE "prepared rows"."ord" <= 2
  ) AS a
  GROUP BY a."unit"
) AS a;
