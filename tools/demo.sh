#!/usr/bin/env bash
# One command from a clone to a result: installs what is missing, builds, optimises an example.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tools/step.sh

tools/setup.sh
step "configure" cmake --preset release -Wno-dev
step "build" cmake --build --preset release
step "demo" build/release/bin/mirage optimize examples/gqa_bs1.mu
