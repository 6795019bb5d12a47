SELECT a.`c0`, a.`c4`, count(*)
FROM (
  SELECT a.`c0` AS `c0`, a.`c4` AS `c4`
  FROM (
    SELECT a.`c0` AS `c0`, CASE WHEN CAST(a.`c1` AS BIGINT) < 40 THEN 40 WHEN CAST(a.`c1` AS BIGINT) > 110 THEN 110 ELSE CAST(a.`c1` AS BIGINT) END AS `c4`
    FROM (
      SELECT `prepared rows`.`region` AS `c0`, `prepared rows`.`age` AS `c1`
      FROM prepared_people AS `prepared rows`
      WHERE `prepared rows`.`ord` <= 2
    ) AS a
  ) AS a
  WHERE (NOT (a.`c4` IS NULL))
) AS a
GROUP BY a.`c0`, a.`c4`
ORDER BY a.`c4`;

SELECT a.`c0`, a.`c4`, count(*)
FROM (
  SELECT a.`c0` AS `c0`, a.`c4` AS `c4`
  FROM (
    SELECT a.`c0` AS `c0`, CASE WHEN CAST(a.`c1` AS BIGINT) < 30 THEN 30 WHEN CAST(a.`c1` AS BIGINT) > 30 THEN 30 ELSE CAST(a.`c1` AS BIGINT) END AS `c4`
    FROM (
      SELECT `prepared rows`.`region` AS `c0`, `prepared rows`.`age` AS `c1`
      FROM prepared_people AS `prepared rows`
      WHERE `prepared rows`.`ord` <= 2
    ) AS a
  ) AS a
  WHERE (NOT (a.`c4` IS NULL))
) AS a
GROUP BY a.`c0`, a.`c4`
ORDER BY a.`c4`;
