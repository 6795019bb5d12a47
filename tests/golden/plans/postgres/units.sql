SELECT count(*), count(DISTINCT "_discreet_unit"), count("note")
FROM (
  SELECT "pid" AS "_discreet_unit", "note"
  FROM prepared_people AS r
  WHERE "ord" <= 2
) AS a;
