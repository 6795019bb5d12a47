SELECT a."c2", count(*)
FROM (
  SELECT "prepared rows"."gain" AS "c2"
  FROM prepared_people AS "prepared rows"
  WHERE "prepared rows"."ord" <= 2
) AS a
GROUP BY a."c2";

SELECT a."c2", a."c4", count(*)
FROM (
  SELECT a."c2" AS "c2", a."c4" AS "c4"
  FROM (
    SELECT a."c2" AS "c2", a."c1" AS "c4"
    FROM (
      SELECT "prepared rows"."gain" AS "c2", "prepared rows"."age" AS "c1"
      FROM prepared_people AS "prepared rows"
      WHERE "prepared rows"."ord" <= 2
    ) AS a
  ) AS a
  WHERE (NOT (a."c4" IS NULL))
) AS a
GROUP BY a."c2", a."c4"
ORDER BY a."c4";
