SELECT "_discreet_1", count(*)
FROM (
  SELECT "_discreet_1"
  FROM (
    SELECT CASE WHEN CAST("gain" AS BIGINT) < 0 THEN 0 WHEN CAST("gain" AS BIGINT) > 10 THEN 10 ELSE CAST("gain" AS BIGINT) END AS "_discreet_1"
    FROM (
      SELECT "gain"
      FROM prepared_people AS r
      WHERE "ord" <= 2
    ) AS a
  ) AS a
  WHERE (NOT ("_discreet_1" IS NULL))
) AS a
GROUP BY "_discreet_1"
ORDER BY "_discreet_1";
