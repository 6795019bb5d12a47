SELECT `region`, count(*)
FROM (
  SELECT `region`
  FROM prepared_people AS r
  WHERE `ord` <= 2
) AS a
GROUP BY `region`;

SELECT `region`, `_discreet_1`, count(*)
FROM (
  SELECT `region`, `_discreet_1`
  FROM (
    SELECT `region`, `age` AS `_discreet_1`
    FROM (
      SELECT `region`, `age`
      FROM prepared_people AS r
      WHERE `ord` <= 2
    ) AS a
  ) AS a
  WHERE (NOT (`_discreet_1` IS NULL))
) AS a
GROUP BY `region`, `_discreet_1`
ORDER BY `_discreet_1`;
