# Sourced by the linters: which files each looks at. Run from the repository's root.
cd "$(git rev-parse --show-toplevel)"
. tools/setup/common.sh

# Tracked files and new ones that git doesn't ignore, NUL-separated, that match the patterns and still exist.
files() { git ls-files -z --cached --others --exclude-standard -- "$@" | while IFS= read -r -d '' f; do [ ! -e "$f" ] || printf '%s\0' "$f"; done; }
cc_files() { files '*.cc' '*.h'; }
build_files() { files 'BUILD' '*/BUILD' 'WORKSPACE' '*.bzl'; }

# What this change touches: since it left origin/main if there is such a branch and we are past it, else since the last commit but one.
base_commit() {
  local base; base=$(git merge-base HEAD origin/main 2> /dev/null) || base=
  [ -n "$base" ] && [ "$base" != "$(git rev-parse HEAD)" ] || base=$(git rev-parse -q --verify HEAD~1) || base=$(git rev-parse HEAD)
  printf '%s' "$base"
}
