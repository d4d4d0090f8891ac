#!/usr/bin/env bash
# Checks the models with spin: `right` finds nothing, `broken` finds a deadlock.
set -euo pipefail
models=$PWD/transition/schedule/model
command -v spin > /dev/null || { echo "spin is missing: run tools/setup/debian" >&2; exit 1; }
cd "$(mktemp -d)"

# Explores all of a model. Arguments: model, definitions.
explore() {
  local model=$1; shift
  spin -a "$@" "$models/$model.pml" > spin.log || { cat spin.log; return 1; }
  gcc -w -O1 -DSAFETY -DMEMLIM=1024 -DNOFAIR -o pan pan.c
  ./pan -m100000 > pan.log 2>&1
  grep -q 'errors: ' pan.log || { cat pan.log; return 1; }
  if grep -q 'Search not completed' pan.log && grep -q 'errors: 0' pan.log; then cat pan.log; return 1; fi
}
right() {
  explore "$@"
  grep -q 'errors: 0' pan.log || { echo "$*: should be right"; cat pan.log; exit 1; }
  echo "$*: right, $(sed -n 's/ *\([0-9.e+]*\) states, stored.*/\1 states/p' pan.log)"
}
broken() {
  explore "$@"
  grep -q 'invalid end state' pan.log || { echo "$*: should wait for ever"; cat pan.log; exit 1; }
  echo "$*: found broken"
}

right order -DN=3 -DM=4
right order -DN=3 -DM=4 -DCREDITS=1
right order -DN=3 -DM=3 -DGROUPS
broken order -DN=3 -DM=3 -DBROKEN
broken order -DN=3 -DM=3 -DGROUPS -DBROKEN
right xor -DN=3
broken xor -DN=3 -DBROKEN
