SELECT count(*), coalesce(CAST(CAST(sum(shiftright(CAST(a.`c18` AS BIGINT), 42)) AS DECIMAL(20, 0)) * 4398046511104BD + CAST(sum(shiftright(CAST(a.`c18` AS BIGINT), 21) & 2097151) AS DECIMAL(20, 0)) * 2097152BD + CAST(sum(CAST(a.`c18` AS BIGINT) & 2097151) AS DECIMAL(20, 0)) AS DECIMAL(38, 0)), 0), count(a.`c19`)
FROM (
  SELECT b.`c18` AS `c18`, b.`c19` AS `c19`
  FROM (
    SELECT `prepared rows`.`age` AS `c1`
    FROM prepared_people AS `prepared rows`
    WHERE `prepared rows`.`ord` <= 2
  ) AS a
  JOIN (
    VALUES (CAST(30 AS BIGINT), CAST(1 AS BIGINT), CAST(NULL AS BIGINT)), (120, 2, 5), (7, 9, 9)
  ) AS b(`entry`, `c18`, `c19`) ON a.`c1` = b.`entry`
) AS a;
