SELECT count(*)
FROM (
  SELECT 1 AS `one`
  FROM prepared_people AS `prepared rows`
  WHERE `prepared rows`.`ord` <= 2 AND (`prepared rows`.`note` IN (CAST(X'4F27427269656E205C20247B737061726B2E6170702E6E616D657D200A207B307D202573' AS STRING), 'été'))
) AS a;
