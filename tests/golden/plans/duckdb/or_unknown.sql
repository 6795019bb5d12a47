SELECT count(*)
FROM (
  SELECT 1 AS "_discreet_one"
  FROM prepared_people AS r
  WHERE "ord" <= 2 AND (NOT (("age" >= 100) OR ("region" IS NULL)))
) AS a;
