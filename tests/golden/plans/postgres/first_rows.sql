SELECT count(*), coalesce(sum("age"), 0)
FROM (
  SELECT "age"
  FROM prepared_people AS r
  WHERE "ord" <= 1
) AS a;
