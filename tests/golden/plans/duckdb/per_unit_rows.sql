SELECT count(*)
FROM (
  SELECT 1 AS "_discreet_one"
  FROM (
    SELECT "pid" AS "_discreet_unit"
    FROM prepared_people AS r
    WHERE "ord" <= 2 AND ("age" >= 50)
  ) AS a
  GROUP BY "_discreet_unit"
) AS a;
