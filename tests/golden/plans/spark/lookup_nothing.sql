SELECT count(*), coalesce(CAST(CAST(sum(shiftright(CAST(a.`c32` AS BIGINT), 42)) AS DECIMAL(20, 0)) * 4398046511104BD + CAST(sum(shiftright(CAST(a.`c32` AS BIGINT), 21) & 2097151) AS DECIMAL(20, 0)) * 2097152BD + CAST(sum(CAST(a.`c32` AS BIGINT) & 2097151) AS DECIMAL(20, 0)) AS DECIMAL(38, 0)), 0)
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
