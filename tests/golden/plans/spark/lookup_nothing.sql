SELECT count(*), coalesce(sum(CAST(a.`c32` AS DECIMAL(38, 0))), 0)
FROM (
  SELECT b.`c32` AS `c32`
  FROM (
    SELECT `prepared rows`.`age` AS `c1`
    FROM prepared_people AS `prepared rows`
    WHERE `prepared rows`.`ord` <= 2
  ) AS a
  JOIN (
    SELECT CAST(NULL AS BIGINT), CAST(NULL AS BIGINT) WHERE FALSE
  ) AS b(`entry`, `c32`) ON a.`c1` = b.`entry`
) AS a;
