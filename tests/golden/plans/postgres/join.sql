SELECT count(*), count(DISTINCT "_discreet_unit"), coalesce(sum("cost"), 0), coalesce(sum((CAST("age" AS BIGINT) * CAST("cost" AS BIGINT))), 0)
FROM (
  SELECT a."_discreet_unit" AS "_discreet_unit", "cost", "age"
  FROM (
    SELECT "pid" AS "_discreet_unit", "age"
    FROM prepared_people AS r
    WHERE "ord" <= 2
  ) AS a
  JOIN (
    SELECT "pid" AS "_discreet_unit", "cost"
    FROM prepared_visits AS r
    WHERE "ord" <= 2
  ) AS b ON a."_discreet_unit" = b."_discreet_unit"
) AS a;
