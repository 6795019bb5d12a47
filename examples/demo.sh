#!/usr/bin/env bash
# From nothing to protected answers: what `make demo` runs. Everything is written under demo/.
set -euo pipefail
cd "$(dirname "$0")/.."

. examples/show.sh
QUESTION="SELECT COUNT(*) AS smokers FROM survey WHERE smoking = 1"

run init demo/office
run sample survey demo/data
run add -w demo/office demo/data/survey.parquet
run query -w demo/office "$QUESTION" --epsilon 0.3 --explain
run query -w demo/office "$QUESTION" --epsilon 0.3
run table -w demo/office survey --by smoking,sex --weighted --epsilon 0.3 --out demo/smoking.xlsx --out heat-map=demo/smoking.svg
run query -w demo/office "SELECT COUNT(*) FROM survey WHERE person_id = 7" --epsilon 0.1 || true
run budget -w demo/office
