SELECT count(*)
FROM (
  SELECT 1 AS `one`
  FROM (
    SELECT ((CAST(a.`c2` AS BIGINT) * CAST(a.`c2` AS BIGINT)) * CAST(a.`c2` AS BIGINT)) AS `c20`
    FROM (
      SELECT CASE WHEN (`prepared rows`.`gain` BETWEEN 0 AND 1000) THEN `prepared rows`.`gain` END AS `c2`
      FROM prepared_people AS `prepared rows`
      WHERE `prepared rows`.`ord` <= 2 AND (`prepared rows`.`gain` BETWEEN 0 AND 1000)
    ) AS a
  ) AS a
  WHERE (a.`c20` <= 1000000)
) AS a;
