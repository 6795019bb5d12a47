SELECT count(*), count(DISTINCT a."unit")
FROM (
  SELECT a."unit" AS "unit"
  FROM (
    SELECT a."unit" AS "unit", a."c1" AS "c1"
    FROM (
      SELECT "prepared rows"."pid" AS "unit", "prepared rows"."age" AS "c1"
      FROM prepared_people AS "prepared rows"
      WHERE "prepared rows"."ord" <= 2
    ) AS a
    JOIN (
      SELECT "prepared rows"."pid" AS "unit"
      FROM prepared_visits AS "prepared rows"
      WHERE "prepared rows"."ord" <= 2
    ) AS b ON a."unit" = b."unit"
  ) AS a
  WHERE (a."c1" >= 50)
) AS a;
