#!/usr/bin/env bash
# Formats all C++ and device files with clang-format 14; --check only says which ones differ.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mode=(-i)
[[ ${1:-} != --check ]] || mode=(--dry-run -Werror)
format=$(command -v clang-format-14 || command -v clang-format)
git -c safe.directory='*' ls-files -z -- '*.cc' '*.h' '*.cuh' |
  xargs -0 -r -n 20 -P "$(nproc)" "$format" "${mode[@]}"
