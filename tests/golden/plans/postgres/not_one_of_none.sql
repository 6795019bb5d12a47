SELECT count(*)
FROM (
  SELECT 1 AS "one"
  FROM prepared_people AS "prepared rows"
  WHERE "prepared rows"."ord" <= 2 AND (NOT ("prepared rows"."age" IS NULL AND CAST(NULL AS BOOLEAN)))
) AS a;
