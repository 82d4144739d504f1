#!/usr/bin/env bash
# Builds the preset `fuzz` and runs every fuzzer for SECONDS, beginning with the graphs of tests/ and
# examples/ and with what earlier runs found worth keeping. Fails if one of them finds something;
# the input is then left in build/fuzz/found.
#
#   tests/fuzz/run.sh SECONDS [FUZZER...]
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds=${1:?usage: tests/fuzz/run.sh SECONDS [FUZZER...]}
shift
case $seconds in *[!0-9]* | "") echo "run.sh: expected a number of seconds, found $seconds" >&2; exit 64 ;; esac

cmake --preset fuzz -Wno-dev >/dev/null
cmake --build --preset fuzz

folder=build/fuzz
mkdir -p "$folder/found"
fuzzers=("$@")
if [ $# -eq 0 ]; then
  for source in tests/fuzz/*_fuzz.cc; do fuzzers+=("$(basename "$source" .cc)"); done
fi

# Seeds: text as it is, JSON behind a byte that says its epoch. Words of the text are a dictionary.
seeds_of() {
  local into=$1 kind=$2 file
  mkdir -p "$into"
  case $kind in
    graph_text_fuzz)
      find tests examples -name '*.mu' -size -64k | while read -r file; do
        cp "$file" "$into/$(tr / _ <<<"$file")"
      done ;;
    *)
      for file in tests/data/mugraphs/*.json; do
        case $file in *.old.json) printf 0 ;; *) printf 1 ;; esac |
          cat - "$file" >"$into/$(basename "$file")"
      done ;;
  esac
}

failed=0
for fuzzer in "${fuzzers[@]}"; do
  program=$(find "$folder" -name "$fuzzer" -type f -perm -u+x | head -n 1)
  [ -n "$program" ] || { echo "run.sh: no fuzzer $fuzzer" >&2; exit 64; }
  corpus=$folder/corpus/$fuzzer seeds=$folder/seeds/$fuzzer
  mkdir -p "$corpus"
  seeds_of "$seeds" "$fuzzer"
  cat "$seeds"/* | tr -c 'A-Za-z0-9_' '\n' | grep -E '^[A-Za-z][A-Za-z0-9_]{1,40}$' | sort -u |
    sed 's/.*/"&"/' >"$folder/$fuzzer.dict"
  echo "== $fuzzer, $seconds s"
  if ! "$program" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -max_len=32768 \
    -dict="$folder/$fuzzer.dict" -artifact_prefix="$folder/found/$fuzzer-" -print_final_stats=1 \
    "$corpus" "$seeds" >"$folder/$fuzzer.log" 2>&1; then
    failed=1
    grep -vE '^#[0-9]+' "$folder/$fuzzer.log" | tail -n 60
  fi
  grep -E 'number_of_executed_units|new_units_added|peak_rss' "$folder/$fuzzer.log" || true
done
[ $failed -eq 0 ] || { echo "found: see $folder/found" >&2; exit 1; }
