SELECT "note", count(*)
FROM (
  SELECT "note"
  FROM prepared_people AS r
  WHERE "ord" <= 2
) AS a
GROUP BY "note";

SELECT "note", "_discreet_1", count(*)
FROM (
  SELECT "note", "_discreet_1"
  FROM (
    SELECT "note", "gain" AS "_discreet_1"
    FROM (
      SELECT "note", "gain"
      FROM prepared_people AS r
      WHERE "ord" <= 2
    ) AS a
  ) AS a
  WHERE (NOT ("_discreet_1" IS NULL))
) AS a
GROUP BY "note", "_discreet_1"
ORDER BY "_discreet_1";
