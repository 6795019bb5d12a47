SELECT coalesce(sum(CAST(`age` AS DECIMAL(38, 0))), 0) + -60 * CAST(count(`age`) AS DECIMAL(38, 0)), count((CAST(`age` AS BIGINT) + CAST(-60 AS BIGINT)))
FROM (
  SELECT `age`
  FROM prepared_people AS r
  WHERE `ord` <= 2
) AS a;
