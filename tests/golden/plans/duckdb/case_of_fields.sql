SELECT coalesce(sum(CASE WHEN (a."c0" IN (0)) THEN a."c1" ELSE CAST(NULL AS BIGINT) END), 0), count(CASE WHEN (a."c0" IN (0)) THEN a."c1" ELSE CAST(NULL AS BIGINT) END)
FROM (
  SELECT "prepared rows"."region" AS "c0", "prepared rows"."age" AS "c1"
  FROM prepared_people AS "prepared rows"
  WHERE "prepared rows"."ord" <= 2
) AS a;
