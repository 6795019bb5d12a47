SELECT coalesce(sum((abs(CAST("gain" AS BIGINT)) * CAST(greatest(CAST(4500 AS BIGINT), CAST(NULL AS BIGINT)) AS BIGINT))), 0), count((abs(CAST("gain" AS BIGINT)) * CAST(greatest(CAST(4500 AS BIGINT), CAST(NULL AS BIGINT)) AS BIGINT)))
FROM (
  SELECT "gain"
  FROM prepared_people AS r
  WHERE "ord" <= 2
) AS a;
