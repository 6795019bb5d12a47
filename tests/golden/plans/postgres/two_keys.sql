SELECT a."c0", a."c1", count(*)
FROM (
  SELECT "prepared rows"."region" AS "c0", "prepared rows"."age" AS "c1"
  FROM prepared_people AS "prepared rows"
  WHERE "prepared rows"."ord" <= 2
) AS a
GROUP BY a."c0", a."c1";
