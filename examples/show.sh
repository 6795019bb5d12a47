# For the demonstrations: `run` shows a command as one would type it, then runs it. On a terminal a command asks before
# it spends; here nobody is there to answer.
run() {
  printf '$ discreet'
  for word in "$@"; do case $word in *[\ \(]*) printf ' "%s"' "$word" ;; *) printf ' %s' "$word" ;; esac; done
  printf '\n'
  discreet "$@" </dev/null
}

rm -rf demo
mkdir demo
export DISCREET_KEYS="demo/keys" DISCREET_ANALYST="demo"
