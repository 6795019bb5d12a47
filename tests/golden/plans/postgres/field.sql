SELECT coalesce(sum("age"), 0), count("age")
FROM (
  SELECT "age"
  FROM prepared_people AS r
  WHERE "ord" <= 2
) AS a;
