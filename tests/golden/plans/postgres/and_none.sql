SELECT count(*)
FROM (
  SELECT 1 AS "one"
  FROM prepared_people AS "prepared rows"
  WHERE "prepared rows"."ord" <= 2 AND (TRUE)
) AS a;
