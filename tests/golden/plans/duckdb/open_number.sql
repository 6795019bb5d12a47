SELECT "gain", count(*)
FROM (
  SELECT "gain"
  FROM prepared_people AS r
  WHERE "ord" <= 2
) AS a
GROUP BY "gain";

SELECT "gain", "_discreet_1", count(*)
FROM (
  SELECT "gain", "_discreet_1"
  FROM (
    SELECT "gain", "age" AS "_discreet_1"
    FROM (
      SELECT "gain", "age"
      FROM prepared_people AS r
      WHERE "ord" <= 2
    ) AS a
  ) AS a
  WHERE (NOT ("_discreet_1" IS NULL))
) AS a
GROUP BY "gain", "_discreet_1"
ORDER BY "_discreet_1";
