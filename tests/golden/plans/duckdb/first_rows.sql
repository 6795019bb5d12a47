SELECT count(*), coalesce(sum(a."c1"), 0)
FROM (
  SELECT "prepared rows"."age" AS "c1"
  FROM prepared_people AS "prepared rows"
  WHERE "prepared rows"."ord" <= 1
) AS a;
