SELECT coalesce(sum((abs(CAST(a."c2" AS BIGINT)) * CAST(greatest(CAST(4500 AS BIGINT), CAST(NULL AS BIGINT)) AS BIGINT))), 0), count((abs(CAST(a."c2" AS BIGINT)) * CAST(greatest(CAST(4500 AS BIGINT), CAST(NULL AS BIGINT)) AS BIGINT)))
FROM (
  SELECT "prepared rows"."gain" AS "c2"
  FROM prepared_people AS "prepared rows"
  WHERE "prepared rows"."ord" <= 2
) AS a;
