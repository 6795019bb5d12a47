SELECT count(*), coalesce(sum(CAST(`n` AS DECIMAL(38, 0))), 0), coalesce(sum(CAST(`aged` AS DECIMAL(38, 0))), 0), coalesce(sum(CAST(`total` AS DECIMAL(38, 0))), 0), count(`total`), coalesce(sum(CAST(`low` AS DECIMAL(38, 0))), 0), coalesce(sum(CAST(`high` AS DECIMAL(38, 0))), 0)
FROM (
  SELECT count(*) AS `n`, count(`age`) AS `aged`, CAST(sum(CAST(`age` AS DECIMAL(38, 0))) AS BIGINT) AS `total`, min(`gain`) AS `low`, max(`gain`) AS `high`
  FROM (
    SELECT `pid` AS `_discreet_unit`, `age`, `gain`
    FROM prepared_people AS r
    WHERE `ord` <= 2
  ) AS a
  GROUP BY `_discreet_unit`
) AS a;
