# Owns: where downloads and built tools are kept between runs, and how scripts speak (progress on stderr).
# Leaves to others: what is built. Meant to be sourced by bash scripts.
# shellcheck shell=bash

say() { printf '%s\n' "$*" >&2; }

die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# misuse WORDS: for arguments that make no sense.
misuse() {
  printf 'error: %s\n' "$*" >&2
  exit 64
}

# verl_cache_dir: prints the cache directory of this project, made if missing. HOME may be unset in bare environments.
verl_cache_dir() {
  local home=${HOME:-}
  [[ -n $home ]] || home=$(getent passwd "$(id -u)" | cut -d: -f6)
  local dir=${XDG_CACHE_HOME:-$home/.cache}/verl-operator
  mkdir -p "$dir"
  printf '%s\n' "$dir"
}

# need COMMAND HINT: fails with the hint when a command is missing.
need() {
  command -v "$1" >/dev/null 2>&1 || die "$1 is not installed: $2"
}

# with_lock FILE COMMAND...: runs the command while holding FILE, so that two runs never build or fetch the same thing.
with_lock() {
  local lock=$1
  shift
  mkdir -p "$(dirname "$lock")"
  (
    if ! flock -n 9; then
      say "waiting for another run that holds $lock"
      flock -w 3600 9 || die "gave up after an hour waiting for $lock"
    fi
    "$@" 9>&-
  ) 9>"$lock"
}
