SELECT 7 * CAST(count(*) AS HUGEINT), count(CAST(7 AS BIGINT))
FROM (
  SELECT 1 AS "_discreet_one"
  FROM prepared_people AS r
  WHERE "ord" <= 2
) AS a;
