SELECT coalesce(CAST(CAST(sum(shiftright(CAST(CASE WHEN (a.`c0` IN (0)) THEN a.`c1` ELSE CAST(NULL AS BIGINT) END AS BIGINT), 42)) AS DECIMAL(20, 0)) * 4398046511104BD + CAST(sum(shiftright(CAST(CASE WHEN (a.`c0` IN (0)) THEN a.`c1` ELSE CAST(NULL AS BIGINT) END AS BIGINT), 21) & 2097151) AS DECIMAL(20, 0)) * 2097152BD + CAST(sum(CAST(CASE WHEN (a.`c0` IN (0)) THEN a.`c1` ELSE CAST(NULL AS BIGINT) END AS BIGINT) & 2097151) AS DECIMAL(20, 0)) AS DECIMAL(38, 0)), 0), count(CASE WHEN (a.`c0` IN (0)) THEN a.`c1` ELSE CAST(NULL AS BIGINT) END)
FROM (
  SELECT `prepared rows`.`region` AS `c0`, `prepared rows`.`age` AS `c1`
  FROM prepared_people AS `prepared rows`
  WHERE `prepared rows`.`ord` <= 2
) AS a;
