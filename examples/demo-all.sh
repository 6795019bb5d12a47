#!/usr/bin/env bash
# A tour of everything: what `make demo-all` runs. Everything is written under demo/
set -euo pipefail
cd "$(dirname "$0")/.."

. examples/show.sh
say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
SMOKERS="SELECT province, SUM(weight) AS smokers FROM survey WHERE smoking = 1 GROUP BY province"

say "1. A workspace, and a synthetic health survey made from published counts"
run init demo/office
run sample survey demo/data
run add -w demo/office demo/data/survey.parquet

say "2. What an analyst may see before asking: the card and the budget, never a row"
run show -w demo/office survey
run budget -w demo/office

say "3. What a question would cost and how far off it would be: nothing is opened, nothing is charged"
run query -w demo/office "$SMOKERS" --epsilon 0.3 --explain
run query -w demo/office "SELECT COUNT(*) AS people FROM survey WHERE smoking = 1" --within people=50 --explain

say "4. Weighted daily smokers by province, with intervals"
run query -w demo/office "$SMOKERS" --epsilon 0.3

say "5. Mean height by province: weighted, around people whose height is known"
run query -w demo/office "SELECT province, WAVG(height) AS height FROM survey GROUP BY province" --epsilon 0.3

say "6. A question about one person is refused, and so is one that does not fit into the budget"
run query -w demo/office "SELECT COUNT(*) FROM survey WHERE person_id = 7" --epsilon 0.1 || echo "(exit code $?)"
run query -w demo/office "SELECT sex, COUNT(*) AS people FROM survey GROUP BY sex" --epsilon 2 || echo "(exit code $?)"

say "7. The same question in other words costs nothing and gives the same numbers; ordering them is free"
run query -w demo/office "SELECT province AS p, SUM(weight) AS smokers FROM survey WHERE smoking = '1' GROUP BY province
  ORDER BY smokers DESC LIMIT 3" --epsilon 0.3 --lang fr
run query -w demo/office "SELECT COUNT(*) AS people FROM survey WHERE smoking = 1" --within people=50 --format json

say "8. A weighted table with margins that add up and an interval on every figure; then the same as a workbook and pictures"
TABLE=(-w demo/office survey --by smoking,sex --weighted --epsilon 0.3)
run table explain "${TABLE[@]}"
run table "${TABLE[@]}"
run table "${TABLE[@]}" --out demo/smoking.xlsx --out heat-map=demo/smoking.svg --out bars=demo/smoking-bars.svg

say "9. What is left, and whether the ledger holds"
run budget -w demo/office
run ledger verify -w demo/office

say "10. A survey whose answers are protected before they leave: a signed manifest, one draw for each respondent, estimates"
run local init demo/data/survey.yaml --epsilon 2 --columns smoking --groups province --out demo/manifest.yaml
run local keys --out demo/keys/survey.key
run local sign demo/manifest.yaml --key demo/keys/survey.key --out demo/manifest.json
run local show demo/manifest.json --respondents 5000 --trust demo/keys/survey.key.pub
run local encode demo/manifest.json demo/data/survey.parquet --out demo/reports.jsonl
run local estimate demo/manifest.json demo/reports.jsonl

say "11. Which model and which ε? A small study on the true rows, for the custodian alone"
run study run examples/study.yaml --out demo/study
echo
echo "Open the report in a browser: demo/study/report.html"

say "12. How much can one person move an answer? Every strategy on one question, drawn 100 times, for the custodian alone"
sed 's/^neighbours:/allow: [generated]  # what has no proof may be compared here, and leaves its marker\n&/' \
  demo/data/survey.yaml > demo/data/compared.yaml
run init demo/laboratory
# --yes: the same people in a second workspace would be asked about, for their budgets add up; here nothing is released.
run add -w demo/laboratory demo/data/survey.parquet --card demo/data/compared.yaml --yes
run sensitivity -w demo/laboratory "SELECT AVG(height) FROM survey WHERE province = 59" --epsilon 0.1 --assume n=10000
run sensitivity -w demo/laboratory "SELECT AVG(height) FROM survey WHERE province = 59" --epsilon 0.1 --custodian

say "13. A count between agencies: a health agency draws, a census office counts, a university gets the noisy answer"
run sample linked demo/linked --people 20000
run init demo/linked/clinic-rows
run add -w demo/linked/clinic-rows demo/linked/health.parquet
run init demo/linked/census-rows
run add -w demo/linked/census-rows demo/linked/registry.parquet --card demo/linked/registry-people.yaml
cd demo/linked
run linked init terms.yaml
run linked keys university --role researcher --name "University"
run linked keys clinic --role holder --name "Health agency"
run linked keys census --role registry --name "Census office"
run linked agree terms.yaml university clinic census --out agreement.json
for office in university clinic census; do run linked sign agreement.json --office "$office" > /dev/null; done
run linked open agreement.json --office census -w census-rows --out link-key.env
run linked open agreement.json --office clinic -w clinic-rows --link-key link-key.env
run linked open agreement.json --office university
run linked ask --office university --property francophone --kind count-and-size --scale 10 \
  --where "angioplasty = 'yes'" --out request.env
run linked draw request.env --office clinic --out sample.env --yes
run linked count sample.env --office census --out answer.env
run linked read answer.env --office university --population-share 0.04
run linked verify --office census
