SELECT count(*), coalesce(sum(a."c18"), 0), count(a."c19")
FROM (
  SELECT b."c18" AS "c18", b."c19" AS "c19"
  FROM (
    SELECT "prepared rows"."age" AS "c1"
    FROM prepared_people AS "prepared rows"
    WHERE "prepared rows"."ord" <= 2
  ) AS a
  JOIN (
    VALUES (CAST(30 AS BIGINT), CAST(1 AS BIGINT), CAST(NULL AS BIGINT)), (120, 2, 5), (7, 9, 9)
  ) AS b("entry", "c18", "c19") ON a."c1" = b."entry"
) AS a;
