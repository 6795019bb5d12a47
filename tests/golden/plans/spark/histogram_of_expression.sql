SELECT a.`c4`, count(*)
FROM (
  SELECT a.`c4` AS `c4`
  FROM (
    SELECT CASE WHEN CAST(a.`c2` AS BIGINT) < 0 THEN 0 WHEN CAST(a.`c2` AS BIGINT) > 10 THEN 10 ELSE CAST(a.`c2` AS BIGINT) END AS `c4`
    FROM (
      SELECT `prepared rows`.`gain` AS `c2`
      FROM prepared_people AS `prepared rows`
      WHERE `prepared rows`.`ord` <= 2
    ) AS a
  ) AS a
  WHERE (NOT (a.`c4` IS NULL))
) AS a
GROUP BY a.`c4`
ORDER BY a.`c4`;
