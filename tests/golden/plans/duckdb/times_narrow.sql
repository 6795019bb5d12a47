SELECT coalesce(sum((CAST(a."c1" AS BIGINT) * CAST(a."c1" AS BIGINT))), 0), count((CAST(a."c1" AS BIGINT) * CAST(a."c1" AS BIGINT)))
FROM (
  SELECT "prepared rows"."age" AS "c1"
  FROM prepared_people AS "prepared rows"
  WHERE "prepared rows"."ord" <= 2
) AS a;
