SELECT count(*), count(DISTINCT `_discreet_unit`), coalesce(sum(CAST(`cost` AS DECIMAL(38, 0))), 0), coalesce(sum(CAST((CAST(`age` AS BIGINT) * CAST(`cost` AS BIGINT)) AS DECIMAL(38, 0))), 0)
FROM (
  SELECT a.`_discreet_unit` AS `_discreet_unit`, `cost`, `age`
  FROM (
    SELECT `pid` AS `_discreet_unit`, `age`
    FROM prepared_people AS r
    WHERE `ord` <= 2
  ) AS a
  JOIN (
    SELECT `pid` AS `_discreet_unit`, `cost`
    FROM prepared_visits AS r
    WHERE `ord` <= 2
  ) AS b ON a.`_discreet_unit` = b.`_discreet_unit`
) AS a;
