SELECT coalesce(sum(CAST(NULL AS BIGINT)), 0), count(CAST(NULL AS BIGINT))
FROM (
  SELECT 1 AS "_discreet_one"
  FROM prepared_people AS r
  WHERE "ord" <= 2
) AS a;
