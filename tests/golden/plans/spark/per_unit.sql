SELECT count(*), coalesce(sum(CAST(a.`c13` AS DECIMAL(38, 0))), 0), coalesce(sum(CAST(a.`c14` AS DECIMAL(38, 0))), 0), coalesce(sum(CAST(a.`c15` AS DECIMAL(38, 0))), 0), count(a.`c15`), coalesce(sum(CAST(a.`c16` AS DECIMAL(38, 0))), 0), coalesce(sum(CAST(a.`c17` AS DECIMAL(38, 0))), 0)
FROM (
  SELECT count(*) AS `c13`, count(a.`c1`) AS `c14`, CAST(sum(CAST(a.`c1` AS DECIMAL(38, 0))) AS BIGINT) AS `c15`, min(a.`c2`) AS `c16`, max(a.`c2`) AS `c17`
  FROM (
    SELECT `prepared rows`.`pid` AS `unit`, `prepared rows`.`age` AS `c1`, `prepared rows`.`gain` AS `c2`
    FROM prepared_people AS `prepared rows`
    WHERE `prepared rows`.`ord` <= 2
  ) AS a
  GROUP BY a.`unit`
) AS a;
