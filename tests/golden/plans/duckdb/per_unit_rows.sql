SELECT count(*)
FROM (
  SELECT 1 AS "one"
  FROM (
    SELECT "prepared rows"."pid" AS "unit"
    FROM prepared_people AS "prepared rows"
    WHERE "prepared rows"."ord" <= 2 AND ("prepared rows"."age" >= 50)
  ) AS a
  GROUP BY a."unit"
) AS a;
