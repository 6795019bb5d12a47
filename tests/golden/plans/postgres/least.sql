SELECT coalesce(sum(least(CAST(a."c1" AS BIGINT), CAST(50 AS BIGINT))), 0), count(least(CAST(a."c1" AS BIGINT), CAST(50 AS BIGINT)))
FROM (
  SELECT "prepared rows"."age" AS "c1"
  FROM prepared_people AS "prepared rows"
  WHERE "prepared rows"."ord" <= 2
) AS a;
