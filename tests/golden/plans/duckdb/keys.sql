SELECT "region", count(*), coalesce(sum("age"), 0), count(DISTINCT "_discreet_unit")
FROM (
  SELECT "pid" AS "_discreet_unit", "region", "age"
  FROM prepared_people AS r
  WHERE "ord" <= 2
) AS a
GROUP BY "region";
