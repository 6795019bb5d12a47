SELECT count(*)
FROM (
  SELECT 1 AS "_discreet_one"
  FROM prepared_people AS r
  WHERE "ord" <= 2 AND ("note" IN ('O''Brien \ ${spark.app.name} 
 {0} %s', 'été'))
) AS a;
