SELECT coalesce(CAST(CAST(sum(shiftright(CAST(a.`c1` AS BIGINT), 42)) AS DECIMAL(20, 0)) * 4398046511104BD + CAST(sum(shiftright(CAST(a.`c1` AS BIGINT), 21) & 2097151) AS DECIMAL(20, 0)) * 2097152BD + CAST(sum(CAST(a.`c1` AS BIGINT) & 2097151) AS DECIMAL(20, 0)) AS DECIMAL(38, 0)), 0), count(a.`c1`)
FROM (
  SELECT `prepared rows`.`age` AS `c1`
  FROM prepared_people AS `prepared rows`
  WHERE `prepared rows`.`ord` <= 2
) AS a;
