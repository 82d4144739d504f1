#!/usr/bin/env bash
# Builds mirage on a machine with a GPU and measures the table of docs/benchmarks.md beside PyTorch.
#
#   bench/run_h200.sh [--group N | --only NAME ...] [further options of bench/h200/measure.py]
#
# A group takes at most eight minutes beside the build; without --group or --only all follow each other. Results are merged
# by device and commit into bench/results/h200.json; with OUT set they go to $OUT instead, a file a group, for
# bench/h200/merge.py.
#
#   MIRAGE_CMAKE_ARGS   further arguments of CMake, as -DCMAKE_PREFIX_PATH=... where libraries are not installed
#   MIRAGE              the program, built elsewhere (preset gpu): nothing is built then
#   MIRAGE_COMMIT       of the sources, where they are no git checkout
#   PYTHON              with PyTorch; default python3
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python=${PYTHON:-python3}
results=${OUT:-build/gpu/results}
mkdir -p "$results" build/gpu
export TORCHINDUCTOR_CACHE_DIR=${TORCHINDUCTOR_CACHE_DIR:-$PWD/build/gpu/torch-cache}
export TRITON_CACHE_DIR=${TRITON_CACHE_DIR:-$PWD/build/gpu/triton-cache}
export PYTHONUNBUFFERED=1 PYTHONWARNINGS=ignore

mirage=${MIRAGE:-build/gpu/bin/mirage}

build() {
  [[ -z ${MIRAGE:-} ]] || return 0
  local args=()
  read -ra args <<<"${MIRAGE_CMAKE_ARGS:-}"
  cmake --preset gpu -Wno-dev -DMIRAGE_LTO=OFF "${args[@]}" && cmake --build --preset gpu
}

# measure_group NAME OPTION...
measure_group() {
  local part=$results/h200-$1.json
  shift
  "$python" bench/h200/measure.py --mirage "$mirage" --out "$part" "$@"
  if [[ -z ${OUT:-} ]]; then "$python" bench/h200/merge.py "$part"; fi
}

name=
for ((i = 1; i <= $#; ++i)); do
  case ${!i} in
    --group) next=$((i + 1)); name=group${!next} ;;
    --only) name=rows ;;
  esac
done

# PyTorch compiles its forms while mirage is built.
"$python" bench/h200/measure.py --prepare "$@" &
if ! build >build/gpu/build.log 2>&1; then
  tail -n 30 build/gpu/build.log
  exit 1
fi
echo "built after $SECONDS s"
wait
echo "prepared after $SECONDS s"
if [[ $name ]]; then
  measure_group "$name" "$@"
else
  for group in $("$python" bench/h200/programs.py); do
    measure_group "group$group" --group "$group" "$@"
  done
fi
