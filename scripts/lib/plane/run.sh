# Owns: `run`, a command with a plane of its own that is taken down whatever happens to either, and the guard that does
# so when `run` itself was killed. Leaves to others: how a plane comes up and goes down.
# shellcheck shell=bash
: "${self:?set by scripts/control-plane}" "${repo:?set by scripts/control-plane}"

child="" signalled=0 keep=${VERL_KEEP:-}

# supervise COMMAND...: runs it in a process group of its own, passes signals on, returns its exit code.
supervise() {
  local code=0
  set -m
  "$@" &
  child=$!
  set +m
  while :; do
    wait "$child" && code=0 || code=$?
    kill -0 "$child" 2>/dev/null || break
  done
  child=""
  ((signalled == 0)) || code=$((code > 128 || code == 0 ? 128 + signalled : code))
  return "$code"
}

# on_signal NUMBER: TERM to the command's group, KILL after 20 s.
on_signal() {
  local before=$signalled
  signalled=$1
  [[ -n $child ]] || return 0
  ((before != 0)) || say "cleaning up…"
  kill -TERM -- "-$child" 2>/dev/null || return 0
  for _ in {1..200}; do
    kill -0 -- "-$child" 2>/dev/null || return 0
    sleep 0.1
  done
  say "the command did not end 20 s after TERM; killing it"
  kill -KILL -- "-$child" 2>/dev/null || true
}

# After the command: its stray children would otherwise keep talking to a plane that goes away.
finish_run() {
  local dir=$1
  trap '' INT TERM HUP
  [[ -z $child ]] || kill -KILL -- "-$child" 2>/dev/null || true
  # What never came up, or cleaned up after itself, needs no taking down.
  rmdir "$dir" 2>/dev/null || true
  [[ ! -e $dir ]] || VERL_KEEP=$keep "$self" down --dir "$dir"
}

apply_crds() {
  local dir=$1 file
  local -a kubectl=("$dir/bin/kubectl" --kubeconfig="$dir/kubeconfig/admin" --cache-dir="$dir/kubectl-cache")
  local -a files=("$repo"/crds/*.yaml)
  [[ -e ${files[0]} ]] || die "--crds: no file in $repo/crds"
  for file in "${files[@]}"; do
    "${kubectl[@]}" apply --server-side -f "$file" >/dev/null || die "the apiserver does not take $file"
  done
  "${kubectl[@]}" wait --for=condition=Established --timeout=30s crd --all >/dev/null ||
    die "the CRDs are not established after 30 s"
  # Established is not yet served: a LIST is the proof.
  local name until=$((SECONDS + 30))
  for name in $("${kubectl[@]}" get crd -o name); do
    name=${name#*/}
    until "${kubectl[@]}" get "$name" -A >/dev/null 2>&1; do
      ((SECONDS < until)) || die "$name is established but not served after 30 s"
      sleep 0.1
    done
  done
}

with_plane_env() {
  local dir=$1
  shift
  eval "$(print_env "$dir")"
  PATH=$dir/bin:$PATH exec "$@"
}

plane_run() {
  local with=$1 crds=$2 dir code=0
  shift 2
  [[ $# -gt 0 ]] || misuse "run: which command? scripts/control-plane run -- COMMAND..."
  check_with "$with"
  trap 'on_signal 2' INT
  trap 'on_signal 15' TERM
  trap 'on_signal 1' HUP
  dir=$(mktemp -d "${TMPDIR:-/tmp}/verl-plane.XXXXXX")
  # shellcheck disable=SC2064
  trap "finish_run '$dir'" EXIT
  supervise "$self" up --dir "$dir" --with "$with" --owner "$$" >/dev/null || code=$?
  if ((code != 0)); then
    keep=1 # with the logs that tell why
  elif ((signalled == 0)); then
    if [[ $crds == yes ]]; then apply_crds "$dir"; fi
    if [[ -t 0 && -t 1 ]]; then
      # In the foreground of a terminal the command keeps it, so that a shell works; Ctrl-C reaches both.
      (with_plane_env "$dir" "$@") || code=$?
    else
      supervise run_recorded "$dir" "$@" || code=$?
    fi
    # Who ended it, or stopped reading what it prints, knows why: logs are for what went wrong by itself.
    if ((code != 0 && code != 141 && signalled == 0)) && [[ $keep != 1 ]]; then keep_logs "$dir" "$code"; fi
  fi
  exit "$code"
}

# run_recorded D COMMAND...: notes the command's process, so that the guard can end it too.
run_recorded() {
  local dir=$1 pid=$BASHPID # inside $(…) it would be another, begun later
  printf '%s %s\n' "$pid" "$(start_time "$pid")" >"$dir/run/command.pid"
  with_plane_env "$@"
}

keep_logs() {
  local kept
  kept=$(mktemp -d "${TMPDIR:-/tmp}/verl-plane-logs.XXXXXX")
  cp -r "$1/log" "$1/audit.log" "$kept/" 2>/dev/null || true
  say "the command ended with $2"
  say "logs are kept in $kept"
}

# plane_guard D OWNER START: takes the plane down once the owner has gone, also by SIGKILL.
plane_guard() {
  local dir=$1 owner=$2 started=$3 pid
  while [[ -e $dir/plane && $(start_time "$owner") == "$started" ]]; do sleep 0.5; done
  [[ -e $dir/plane ]] || return 0
  if pid=$(live_pid "$dir" command); then
    kill -TERM -- "-$pid" 2>/dev/null || true
    await_end "$dir" command 20 || kill -KILL -- "-$pid" 2>/dev/null || true
  fi
  plane_down "$dir"
}
