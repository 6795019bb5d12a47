SELECT `region`, `age`, count(*)
FROM (
  SELECT `region`, `age`
  FROM prepared_people AS r
  WHERE `ord` <= 2
) AS a
GROUP BY `region`, `age`;
