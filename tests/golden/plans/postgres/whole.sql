SELECT 7 * CAST(count(*) AS NUMERIC), count(CAST(7 AS BIGINT))
FROM (
  SELECT 1 AS "one"
  FROM prepared_people AS "prepared rows"
  WHERE "prepared rows"."ord" <= 2
) AS a;
