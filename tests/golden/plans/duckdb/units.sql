SELECT count(*), count(DISTINCT a."unit"), count(a."c3")
FROM (
  SELECT "prepared rows"."pid" AS "unit", "prepared rows"."note" AS "c3"
  FROM prepared_people AS "prepared rows"
  WHERE "prepared rows"."ord" <= 2
) AS a;
