SELECT count(*), coalesce(sum(CAST((CAST(`spent` AS BIGINT) + CAST(`n` AS BIGINT)) AS DECIMAL(38, 0))), 0)
FROM (
  SELECT `spent`, `n`
  FROM (
    SELECT `_discreet_unit`, count(*) AS `n`
    FROM (
      SELECT `pid` AS `_discreet_unit`
      FROM prepared_people AS r
      WHERE `ord` <= 2
    ) AS a
    GROUP BY `_discreet_unit`
  ) AS a
  JOIN (
    SELECT `_discreet_unit`, CAST(sum(CAST(`cost` AS DECIMAL(38, 0))) AS BIGINT) AS `spent`
    FROM (
      SELECT `pid` AS `_discreet_unit`, `cost`
      FROM prepared_visits AS r
      WHERE `ord` <= 2
    ) AS a
    GROUP BY `_discreet_unit`
  ) AS b ON a.`_discreet_unit` = b.`_discreet_unit`
) AS a;
