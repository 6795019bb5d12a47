SELECT count(*), coalesce(sum("n"), 0), coalesce(sum("aged"), 0), coalesce(sum("total"), 0), count("total"), coalesce(sum("low"), 0), coalesce(sum("high"), 0)
FROM (
  SELECT count(*) AS "n", count("age") AS "aged", CAST(sum("age") AS BIGINT) AS "total", min("gain") AS "low", max("gain") AS "high"
  FROM (
    SELECT "pid" AS "_discreet_unit", "age", "gain"
    FROM prepared_people AS r
    WHERE "ord" <= 2
  ) AS a
  GROUP BY "_discreet_unit"
) AS a;
