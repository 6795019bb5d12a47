SELECT coalesce(sum(CAST(CASE WHEN (`region` IN (0)) THEN `age` ELSE CAST(NULL AS BIGINT) END AS DECIMAL(38, 0))), 0), count(CASE WHEN (`region` IN (0)) THEN `age` ELSE CAST(NULL AS BIGINT) END)
FROM (
  SELECT `region`, `age`
  FROM prepared_people AS r
  WHERE `ord` <= 2
) AS a;
