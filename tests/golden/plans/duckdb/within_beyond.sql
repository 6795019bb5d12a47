SELECT count(*)
FROM (
  SELECT 1 AS "one"
  FROM prepared_people AS "prepared rows"
  WHERE "prepared rows"."ord" <= 2 AND ("prepared rows"."gain" <= 9223372036854775807)
) AS a;
