#!/usr/bin/env bash
# The sample survey behind a server, with one person of each role: what `make serve` runs. Everything is under serve/.
# It goes on where it was left; `rm -r serve` begins anew. PORT names another port than 8765.
set -euo pipefail
cd "$(dirname "$0")/.."

PORT=${PORT:-8765}
export DISCREET_KEYS="serve/keys" DISCREET_ANALYST="carl" DISCREET_WORKSPACE="serve/office"

if [ ! -d serve/tokens ]; then  # they are put there last
  umask 077  # keys and tokens lie here
  rm -rf serve && mkdir -p serve/new
  trap 'rm -rf serve' EXIT
  discreet init serve/office > serve/setup.log
  {
    discreet sample survey serve/data
    discreet add serve/data/survey.parquet
    for person in carl:custodian ada:analyst rita:reviewer otto:auditor; do
      discreet person add "${person%:*}" --role "${person#*:}"
      discreet token new "${person%:*}" --days 90 > "serve/new/${person%:*}"
    done
    discreet grant add ada survey
  } >> serve/setup.log 2>&1 </dev/null
  mv serve/new serve/tokens
  trap - EXIT
fi

cat <<END
The sample survey is served to four people. Each has a token, in a file of that name:

  serve/tokens/ada    analyst, may ask about 'survey'
  serve/tokens/rita   reviewer
  serve/tokens/carl   custodian
  serve/tokens/otto   auditor

In another terminal, in this folder:

  export PATH="\$PWD/.venv/bin:\$PATH" DISCREET_SERVER=http://127.0.0.1:$PORT
  discreet query --token-file serve/tokens/ada "SELECT COUNT(*) AS smokers FROM survey WHERE smoking = 1" --epsilon 0.3
  discreet budget --token-file serve/tokens/ada
  curl -H "Authorization: Bearer \$(cat serve/tokens/otto)" \$DISCREET_SERVER/v1/ledger/events

To sign in with a browser, make a link and open it:

  DISCREET_KEYS=serve/keys DISCREET_ANALYST=carl discreet person link ada -w serve/office --at http://127.0.0.1:$PORT

docs/service.md tells the rest. Ctrl-C ends the server; \`rm -r serve\` in this folder begins anew.

END
exec discreet serve --port "$PORT"
