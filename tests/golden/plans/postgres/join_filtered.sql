SELECT count(*), count(DISTINCT "_discreet_unit")
FROM (
  SELECT "_discreet_unit"
  FROM (
    SELECT a."_discreet_unit" AS "_discreet_unit", "age"
    FROM (
      SELECT "pid" AS "_discreet_unit", "age"
      FROM prepared_people AS r
      WHERE "ord" <= 2
    ) AS a
    JOIN (
      SELECT "pid" AS "_discreet_unit"
      FROM prepared_visits AS r
      WHERE "ord" <= 2
    ) AS b ON a."_discreet_unit" = b."_discreet_unit"
  ) AS a
  WHERE ("age" >= 50)
) AS a;
