SELECT coalesce(sum(CAST(NULL AS BIGINT)), 0), count(CAST(NULL AS BIGINT))
FROM (
  SELECT 1 AS "one"
  FROM prepared_people AS "prepared rows"
  WHERE "prepared rows"."ord" <= 2
) AS a;
