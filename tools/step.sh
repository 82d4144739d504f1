# For scripts: `step NAME COMMAND...` runs a command under a headline and prints how long it took.
# Its status is the command's. A function runs in a shell of its own with `set -e`, which bash
# honours only where step itself is not part of a condition or of `||`.

step() {
  local name=$1 start=$SECONDS status=0 options=$-
  shift
  printf '\n== %s\n' "$name"
  if declare -F "$1" >/dev/null; then
    set +e
    (set -e; "$@")
    status=$?
    [[ $options != *e* ]] || set -e
  else
    "$@" || status=$?
  fi
  printf -- '-- %s: %d s%s\n' "$name" $((SECONDS - start)) "$( ((status == 0)) || echo ", failed")"
  return "$status"
}

# As many jobs as there are cores, unless the user says otherwise.
export CMAKE_BUILD_PARALLEL_LEVEL=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}
export LC_ALL=C.UTF-8
