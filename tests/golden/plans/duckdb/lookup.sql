SELECT count(*), coalesce(sum("grade"), 0), count("extra")
FROM (
  SELECT "grade", "extra"
  FROM (
    SELECT "age"
    FROM prepared_people AS r
    WHERE "ord" <= 2
  ) AS a
  JOIN (
    VALUES (CAST(30 AS BIGINT), CAST(1 AS BIGINT), CAST(NULL AS BIGINT)), (120, 2, 5), (7, 9, 9)
  ) AS b("_discreet_entry", "grade", "extra") ON "age" = b."_discreet_entry"
) AS a;
