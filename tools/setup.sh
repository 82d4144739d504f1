#!/usr/bin/env bash
# Installs what is missing to build and test; asks the network for nothing when nothing is missing.
#
#   tools/setup.sh          to build and to run: Debian packages, .venv
#   tools/setup.sh test     also the CUDA run-time compiler (as a pip package), for tests of emitted CUDA
#   tools/setup.sh ci       also clang and its tools
#
# Works as root or with sudo. Python is $PYTHON or the system's python3.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. tools/step.sh
profile=${1:-build}

packages() {
  local wanted missing=() package mark
  while read -r package mark; do
    case $package in '' | '#'*) continue ;; esac
    [[ -z $mark || $mark == "$profile" ]] || continue
    dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null | grep -q '^ii' || missing+=("$package")
  done < tools/packages.txt
  if ((${#missing[@]} == 0)); then
    echo "packages: all present"
    return
  fi
  echo "packages: installing ${missing[*]}"
  local sudo=()
  [[ $(id -u) == 0 ]] || sudo=(sudo)
  local apt=("${sudo[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -y -q -o Acquire::Retries=3)
  "${apt[@]}" update </dev/null
  "${apt[@]}" install --no-install-recommends "${missing[@]}" </dev/null
}

# A stamp with the requirements' text says what .venv holds.
python_environment() {
  local python=${PYTHON:-/usr/bin/python3} files=(python/requirements.txt) file wanted
  [[ $profile == build ]] || files+=(python/requirements-cuda.txt)
  if [[ ! -x .venv/bin/python ]]; then
    "$python" -m venv .venv
  fi
  for file in "${files[@]}"; do
    wanted=.venv/installed-$(basename "$file")
    if cmp -s "$file" "$wanted"; then
      echo "$file: all present"
    else
      .venv/bin/python -m pip install --quiet --disable-pip-version-check --retries 5 -r "$file" </dev/null
      cp "$file" "$wanted"
    fi
  done
}

step "Debian packages" packages
step "Python environment" python_environment
