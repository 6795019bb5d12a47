SELECT coalesce(sum(a."c1"), 0), count(a."c1")
FROM (
  SELECT "prepared rows"."age" AS "c1"
  FROM prepared_people AS "prepared rows"
  WHERE "prepared rows"."ord" <= 2
) AS a;
