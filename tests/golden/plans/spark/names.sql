SELECT coalesce(sum(CAST(`_discreet_1` AS DECIMAL(38, 0))), 0), coalesce(sum(CAST(`age` AS DECIMAL(38, 0))), 0), count(`_discreet_2`), coalesce(sum(CAST(`_discreet_3` AS DECIMAL(38, 0))), 0), coalesce(sum(CAST(`_discreet_4` AS DECIMAL(38, 0))), 0)
FROM (
  SELECT `age` AS `_discreet_1`, CAST(1 AS BIGINT) AS `age`, `gain` AS `_discreet_2`, `region` AS `_discreet_3`, CAST(2 AS BIGINT) AS `_discreet_4`
  FROM (
    SELECT `age`, `gain`, `region`
    FROM prepared_people AS r
    WHERE `ord` <= 2
  ) AS a
) AS a;
