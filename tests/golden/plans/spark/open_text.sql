SELECT a.`c3`, count(*)
FROM (
  SELECT `prepared rows`.`note` AS `c3`
  FROM prepared_people AS `prepared rows`
  WHERE `prepared rows`.`ord` <= 2
) AS a
GROUP BY a.`c3`;

SELECT a.`c3`, a.`c4`, count(*)
FROM (
  SELECT a.`c3` AS `c3`, a.`c4` AS `c4`
  FROM (
    SELECT a.`c3` AS `c3`, a.`c2` AS `c4`
    FROM (
      SELECT `prepared rows`.`note` AS `c3`, `prepared rows`.`gain` AS `c2`
      FROM prepared_people AS `prepared rows`
      WHERE `prepared rows`.`ord` <= 2
    ) AS a
  ) AS a
  WHERE (NOT (a.`c4` IS NULL))
) AS a
GROUP BY a.`c3`, a.`c4`
ORDER BY a.`c4`;
