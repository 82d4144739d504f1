#!/usr/bin/env bash
# One command from a clone to a result: installs what is missing, builds, optimises an example.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tools/step.sh

tools/setup.sh
step "configure" cmake --preset release -Wno-dev
step "build" cmake --build --preset release

program=examples/gqa_bs1.mu
winner=build/release/demo.mu
mirage=build/release/bin/mirage
step "the program: $program" cat "$program"
step "demo: search, prove, compile, check, time" "$mirage" optimize "$program" --save "$winner"
step "the winner: $winner" cat "$winner"
step "is it the same function?" "$mirage" verify "$program" "$winner"
