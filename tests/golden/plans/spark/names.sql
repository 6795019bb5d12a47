SELECT coalesce(CAST(CAST(sum(shiftright(CAST(a.`c1` AS BIGINT), 42)) AS DECIMAL(20, 0)) * 4398046511104BD + CAST(sum(shiftright(CAST(a.`c1` AS BIGINT), 21) & 2097151) AS DECIMAL(20, 0)) * 2097152BD + CAST(sum(CAST(a.`c1` AS BIGINT) & 2097151) AS DECIMAL(20, 0)) AS DECIMAL(38, 0)), 0), coalesce(CAST(CAST(sum(shiftright(CAST(a.`c21` AS BIGINT), 42)) AS DECIMAL(20, 0)) * 4398046511104BD + CAST(sum(shiftright(CAST(a.`c21` AS BIGINT), 21) & 2097151) AS DECIMAL(20, 0)) * 2097152BD + CAST(sum(CAST(a.`c21` AS BIGINT) & 2097151) AS DECIMAL(20, 0)) AS DECIMAL(38, 0)), 0), coalesce(CAST(CAST(sum(shiftright(CAST(a.`c22` AS BIGINT), 42)) AS DECIMAL(20, 0)) * 4398046511104BD + CAST(sum(shiftright(CAST(a.`c22` AS BIGINT), 21) & 2097151) AS DECIMAL(20, 0)) * 2097152BD + CAST(sum(CAST(a.`c22` AS BIGINT) & 2097151) AS DECIMAL(20, 0)) AS DECIMAL(38, 0)), 0), count(a.`c2`), coalesce(CAST(CAST(sum(shiftright(CAST(a.`c23` AS BIGINT), 42)) AS DECIMAL(20, 0)) * 4398046511104BD + CAST(sum(shiftright(CAST(a.`c23` AS BIGINT), 21) & 2097151) AS DECIMAL(20, 0)) * 2097152BD + CAST(sum(CAST(a.`c23` AS BIGINT) & 2097151) AS DECIMAL(20, 0)) AS DECIMAL(38, 0)), 0), coalesce(CAST(CAST(sum(shiftright(CAST(a.`c24` AS BIGINT), 42)) AS DECIMAL(20, 0)) * 4398046511104BD + CAST(sum(shiftright(CAST(a.`c24` AS BIGINT), 21) & 2097151) AS DECIMAL(20, 0)) * 2097152BD + CAST(sum(CAST(a.`c24` AS BIGINT) & 2097151) AS DECIMAL(20, 0)) AS DECIMAL(38, 0)), 0)
FROM (
  SELECT a.`c1` AS `c1`, a.`c1` AS `c21`, CAST(1 AS BIGINT) AS `c22`, a.`c2` AS `c2`, a.`c0` AS `c23`, CAST(2 AS BIGINT) AS `c24`
  FROM (
    SELECT `prepared rows`.`age` AS `c1`, `prepared rows`.`gain` AS `c2`, `prepared rows`.`region` AS `c0`
    FROM prepared_people AS `prepared rows`
    WHERE `prepared rows`.`ord` <= 2
  ) AS a
) AS a;
