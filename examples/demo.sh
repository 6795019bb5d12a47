#!/usr/bin/env bash
# From nothing to protected counts: what `make demo` runs. Everything is written under demo/.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }
run() {
  printf '\n$ discreet'
  for word in "$@"; do case $word in *[\ \(]*) printf ' "%s"' "$word" ;; *) printf ' %s' "$word" ;; esac; done
  printf '\n'
  discreet "$@"
}

rm -rf demo
mkdir demo
export DISCREET_KEYS="demo/keys" DISCREET_ANALYST="demo"

say "1. A workspace, and a synthetic health survey made from published counts"
run init demo/office
run sample survey demo/data
run add -w demo/office demo/data/survey.parquet

say "2. What an analyst may see before asking: the card and the budget, never a row"
run show -w demo/office survey
run budget -w demo/office

say "3. Counts by province, with intervals, through ledger and mechanism"
run query -w demo/office "SELECT province, COUNT(*) AS people FROM survey GROUP BY province" --epsilon 0.5
run query -w demo/office "SELECT COUNT(*) AS people FROM survey WHERE province = 24 AND smoking = 1" \
  --epsilon 0.1 --lang fr --format json

say "4. The same question again costs nothing; a question that does not fit is refused"
run query -w demo/office "SELECT province, COUNT(*) AS people FROM survey GROUP BY province" --epsilon 0.5
run query -w demo/office "SELECT sex, COUNT(*) AS people FROM survey GROUP BY sex" --epsilon 2 || echo "(exit code $?)"

say "5. What is left, and whether the ledger holds"
run budget -w demo/office
run ledger verify -w demo/office
