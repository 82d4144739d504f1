#!/usr/bin/env bash
# clang-tidy on the C++ sources that changed since BASE (default: where this branch left the main
# line, or the last commit), with the compile commands of build/ci. More than 20 files are left out.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
git() { command git -c safe.directory='*' "$@"; }
base=${1:-$(git merge-base HEAD origin/main 2>/dev/null || true)}
if [[ -z $base || $base == "$(git rev-parse HEAD)" ]]; then
  base=$(git rev-parse -q --verify HEAD~1 || true)
fi
if [[ -z $base ]]; then
  echo "tidy: no earlier commit to compare with"
  exit 0
fi
mapfile -t files < <(git diff --name-only --diff-filter=d "$base" -- 'src/*.cc' 'tools/*.cc' |
  while read -r file; do grep -qF "/$file\"" build/ci/compile_commands.json && echo "$file"; done)
if ((${#files[@]} == 0 || ${#files[@]} > 20)); then
  echo "tidy: ${#files[@]} files, nothing done"
  exit 0
fi
printf '%s\n' "${files[@]}" |
  xargs -n 1 -P "$(nproc)" clang-tidy -p build/ci --quiet --extra-arg=-Wno-unknown-warning-option
