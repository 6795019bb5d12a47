SELECT coalesce(sum("_discreet_1"), 0), coalesce(sum("age"), 0), count("_discreet_2"), coalesce(sum("_discreet_3"), 0), coalesce(sum("_discreet_4"), 0)
FROM (
  SELECT "age" AS "_discreet_1", CAST(1 AS BIGINT) AS "age", "gain" AS "_discreet_2", "region" AS "_discreet_3", CAST(2 AS BIGINT) AS "_discreet_4"
  FROM (
    SELECT "age", "gain", "region"
    FROM prepared_people AS r
    WHERE "ord" <= 2
  ) AS a
) AS a;
