SELECT a."c0", count(*), coalesce(sum(a."c1"), 0), count(DISTINCT a."unit")
FROM (
  SELECT "prepared rows"."pid" AS "unit", "prepared rows"."region" AS "c0", "prepared rows"."age" AS "c1"
  FROM prepared_people AS "prepared rows"
  WHERE "prepared rows"."ord" <= 2
) AS a
GROUP BY a."c0";
