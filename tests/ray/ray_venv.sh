#!/usr/bin/env bash
# Makes the Python environment with Ray once and prints its folder; everything else goes to stderr.
set -euo pipefail
version=2.60.0
root=${XDG_CACHE_HOME:-$HOME/.cache}/verl-operator
venv=$root/ray-$version
mkdir -p "$root"
exec 9> "$venv.lock"
flock 9
if [ ! -e "$venv/.complete" ]; then
  echo "installing ray[default]==$version into $venv (about a minute, 400 MB) ..." >&2
  rm -rf "$venv"
  python3 -m venv "$venv" >&2
  "$venv/bin/pip" install --quiet --disable-pip-version-check "ray[default]==$version" >&2
  touch "$venv/.complete"
fi
echo "$venv"
