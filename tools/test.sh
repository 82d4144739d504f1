#!/usr/bin/env bash
# One command from a clone to a verdict: installs what is missing, builds with the preset ci, runs
# every test that needs no GPU. The last line is 'N passed, N failed'.
#
#   tools/test.sh [--no-setup]      data of ../shared (or $MIRAGE_SHARED) is used where it is there
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tools/step.sh

[[ ${1:-} == --no-setup ]] || tools/setup.sh test
python=$PWD/.venv/bin/python
skipped=(--skipped "gpu tests (there are none yet)")

# From a clean slate: old results must not be counted.
rm -rf build/ci/test-results build/ci/ctest.xml
status=0
step "configure" cmake --preset ci -Wno-dev -DMIRAGE_PYTHON=ON -DPython_EXECUTABLE="$python" \
  -DPython3_EXECUTABLE="$python" || status=1
if ((status == 0)); then
  step "build" cmake --build --preset ci || status=1
fi

export MIRAGE_SHARED=${MIRAGE_SHARED:-$(realpath -m ../shared)}
if [[ ! -d $MIRAGE_SHARED/data ]]; then
  skipped+=(--skipped "tests on shared data (no folder $MIRAGE_SHARED/data)")
  unset MIRAGE_SHARED
fi
if ((status == 0)); then
  step "test" ctest --preset ci -j "$CMAKE_BUILD_PARALLEL_LEVEL" --output-junit ctest.xml || status=1
fi

echo
counted=0
/usr/bin/env python3 tools/count_tests.py "${skipped[@]}" build/ci || counted=1
exit $((status | counted))
