SELECT count(*)
FROM (
  SELECT 1 AS "_discreet_one"
  FROM (
    SELECT ((CAST("gain" AS BIGINT) * CAST("gain" AS BIGINT)) * CAST("gain" AS BIGINT)) AS "cube"
    FROM (
      SELECT CASE WHEN ("gain" BETWEEN 0 AND 1000) THEN "gain" END AS "gain"
      FROM prepared_people AS r
      WHERE "ord" <= 2 AND ("gain" BETWEEN 0 AND 1000)
    ) AS a
  ) AS a
  WHERE ("cube" <= 1000000)
) AS a;
