SELECT coalesce(sum(CAST(`g` AS DECIMAL(38, 0))), 0)
FROM (
  SELECT `g`
  FROM (
    SELECT `age`
    FROM prepared_people AS r
    WHERE `ord` <= 2
  ) AS a
  JOIN (
    VALUES (CAST(1 AS BIGINT), CAST(8 AS BIGINT))
  ) AS b(`_discreet_entry`, `g`) ON (CAST(`age` AS BIGINT) + CAST(1 AS BIGINT)) = b.`_discreet_entry`
) AS a;
