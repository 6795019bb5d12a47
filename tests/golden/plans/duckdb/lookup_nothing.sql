SELECT count(*), coalesce(sum("g"), 0)
FROM (
  SELECT "g"
  FROM (
    SELECT "age"
    FROM prepared_people AS r
    WHERE "ord" <= 2
  ) AS a
  JOIN (
    SELECT CAST(NULL AS BIGINT), CAST(NULL AS BIGINT) WHERE FALSE
  ) AS b("_discreet_entry", "g") ON "age" = b."_discreet_entry"
) AS a;
