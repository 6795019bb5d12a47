SELECT "region", count(*)
FROM (
  SELECT "region"
  FROM prepared_people AS r
  WHERE "ord" <= 2
) AS a
GROUP BY "region";
