# Owns: bringing a plane up and down, and telling about it. Leaves to others: flags, certificates, single processes.
# shellcheck shell=bash
: "${self:?set by scripts/control-plane}" "${repo:?set by scripts/control-plane}"

wanted_dir() {
  [[ -n $1 ]] || die "which plane? give --dir D or set VERL_PLANE_DIR (scripts/control-plane up prints it)"
}

existing_plane() {
  wanted_dir "$1"
  [[ -e $1/plane && -e $1/run/order ]] || die "$1 holds no plane; scripts/control-plane up starts one"
}

components() { cat "$1/run/order" 2>/dev/null || true; }

# link_binaries D WITH: D/bin holds links to what this plane runs: from KUBEBUILDER_ASSETS what lies there, else built.
link_binaries() {
  local dir=$1 with=$2 name built=""
  local -a names=(etcd kube-apiserver kubectl helm)
  [[ ,$with, != *,controller-manager,* ]] || names+=(kube-controller-manager)
  [[ ,$with, != *,scheduler,* ]] || names+=(kube-scheduler)
  [[ ,$with, != *,kwok,* ]] || names+=(kwok)
  mkdir -p "$dir/bin"
  for name in "${names[@]}"; do
    if [[ -n ${KUBEBUILDER_ASSETS:-} && -x $KUBEBUILDER_ASSETS/$name ]]; then
      ln -sf "$KUBEBUILDER_ASSETS/$name" "$dir/bin/$name"
      continue
    fi
    if [[ -z $built ]]; then
      built=$("$repo/scripts/lib/build-control-plane") || exit 1
    fi
    ln -sf "$built/$name" "$dir/bin/$name"
  done
}

check_with() {
  local word
  [[ $1 == none || $1 == "" ]] && return 0
  for word in ${1//,/ }; do
    case $word in
      scheduler | controller-manager | kwok) ;;
      *) die "--with $1: unknown part '$word'; wanted scheduler, controller-manager, kwok or none" ;;
    esac
  done
}

# claim_dir DIR: prints the directory to use, made and marked as a plane's; refuses one that is in use or not ours.
claim_dir() {
  local dir=$1 name
  if [[ -z $dir ]]; then
    dir=$(mktemp -d "${TMPDIR:-/tmp}/verl-plane.XXXXXX")
  elif [[ -e $dir/plane ]]; then
    for name in $(components "$dir"); do
      if live_pid "$dir" "$name" >/dev/null; then
        die "a plane runs in $dir ($name, process $(live_pid "$dir" "$name")); scripts/control-plane down --dir $dir stops it"
      fi
    done
    rm -rf "$dir"
  fi
  mkdir -p "$dir"
  [[ -z $(ls -A "$dir") ]] || die "$dir is not empty and holds no plane; give an empty or a new directory"
  (set -o noclobber && : >"$dir/plane") 2>/dev/null || die "another run claims $dir"
  printf '%s\n' "$dir"
}

# attempt_up D WITH: starts everything once; returns 1 when a part did not become ready.
attempt_up() {
  local dir=$1 with=$2 name
  describe_components "$dir" "$with"
  make_certificates "$dir" "$(<"$dir/run/server")"
  spawn "$dir" etcd
  await_ready "$dir" etcd || return 1
  spawn "$dir" kube-apiserver
  await_ready "$dir" kube-apiserver || return 1
  for name in $(components "$dir"); do
    [[ $name == etcd || $name == kube-apiserver ]] || spawn "$dir" "$name"
  done
  for name in $(components "$dir"); do
    await_ready "$dir" "$name" || return 1
  done
  [[ ,$with, != *,controller-manager,* ]] || await_default_account "$dir"
}

# Pods are refused until the controllers have made the namespace's service account.
await_default_account() {
  local until=$((SECONDS + ${VERL_PLANE_TIMEOUT:-60}))
  local -a get=("$1/bin/kubectl" --kubeconfig="$1/kubeconfig/admin" --request-timeout=2s -n default get)
  while ((SECONDS < until)); do
    if "${get[@]}" serviceaccount/default configmap/kube-root-ca.crt >/dev/null 2>&1; then return 0; fi
    sleep 0.1
  done
  say "the default service account is not there: kube-controller-manager does not work"
  return 1
}

# stop_all D: ends what runs, last started first.
stop_all() {
  local name failed=0
  for name in $(components "$1" | tac); do end "$1" "$name" || failed=1; done
  return "$failed"
}

show_failure() {
  local dir=$1 log
  for log in "$dir"/log/*.log; do
    [[ -s $log ]] || continue
    say "--- last lines of $log"
    tail -n 5 "$log" | cut -c1-300 >&2
  done
  say "logs are kept in $dir/log"
}

plane_up() {
  local dir with=$2 owner=$3 attempt
  check_with "$with"
  need openssl "apt-get install openssl"
  need setsid "apt-get install util-linux"
  if [[ -n $owner ]]; then
    [[ $owner =~ ^[0-9]+$ ]] || die "--owner $owner: wanted the number of a process"
    start_time "$owner" >/dev/null || die "--owner $owner: no such process"
  fi
  local began=$EPOCHREALTIME
  dir=$(claim_dir "$1")
  # shellcheck disable=SC2064  # the directory as it is now
  trap "stop_all '$dir' || true; rm -rf '$dir'; exit 130" INT TERM HUP
  # shellcheck disable=SC2064
  trap "stop_all '$dir' || true" EXIT
  mkdir -p "$dir/run" "$dir/log"
  link_binaries "$dir" "$with"
  cp "$repo/tests/control-plane/stages.yaml" "$dir/stages.yaml"
  for attempt in 1 2 3; do
    if attempt_up "$dir" "$with"; then break; fi
    stop_all "$dir" || true
    if ((attempt == 3)) || ! grep -qs "address already in use" "$dir"/log/*.log; then
      show_failure "$dir"
      die "the control plane did not start"
    fi
    say "a port was taken by another process; trying again with others"
    rm -rf "$dir/etcd" "$dir/pki" "$dir/kubeconfig" "$dir"/log/*
  done
  if [[ -n $owner ]]; then
    local started
    started=$(start_time "$owner") || die "--owner $owner: that process has ended"
    printf '%s\0' "$self" guard --dir "$dir" --owner "$owner" "$started" >"$dir/run/guard.argv"
    spawn "$dir" guard
  fi
  trap - EXIT INT TERM HUP
  local took=$(((${EPOCHREALTIME//[.,]/} - ${began//[.,]/}) / 100000))
  say "control plane ready after $((took / 10)).$((took % 10)) s: $(<"$dir/run/server") in $dir"
  print_env "$dir"
}

print_env() {
  printf 'export KUBECONFIG=%q\n' "$1/kubeconfig/admin"
  printf 'export KUBECACHEDIR=%q\n' "$1/kubectl-cache"
  printf 'export VERL_PLANE_DIR=%q\n' "$1"
  printf 'export VERL_PLANE_BIN=%q\n' "$1/bin"
  printf 'export VERL_PLANE_SERVER=%q\n' "$(<"$1/run/server")"
  printf 'export VERL_PLANE_CA=%q\n' "$1/pki/ca.crt"
  printf 'export VERL_PLANE_AUDIT_LOG=%q\n' "$1/audit.log"
}

plane_down() {
  local dir=$1 pid
  if [[ ! -e $dir/plane ]]; then
    [[ ! -e $dir ]] || die "$dir holds no plane; nothing was touched"
    die "there is no $dir; nothing was done"
  fi
  # The guard calls this itself when the owner has ended.
  if pid=$(live_pid "$dir" guard) && [[ $pid != "$$" ]]; then end "$dir" guard || true; fi
  stop_all "$dir" || die "something of the plane in $dir still runs; see scripts/control-plane status --dir $dir"
  if [[ ${VERL_KEEP:-} == 1 ]]; then
    say "stopped; kept $dir"
  else
    rm -rf "$dir"
  fi
}

plane_status() {
  local dir=$1 name pid rss total=0 all=0
  printf '%-24s %-8s %-6s %s\n' COMPONENT PID PORT RESIDENT
  for name in $(components "$dir"); do
    if pid=$(live_pid "$dir" "$name"); then
      rss=$(awk '$1 == "VmRSS:" {print int($2 / 1024)}' "/proc/$pid/status")
      total=$((total + rss))
      printf '%-24s %-8s %-6s %s MiB\n' "$name" "$pid" "$(<"$dir/run/$name.port")" "$rss"
    else
      all=1
      printf '%-24s %-8s %-6s %s\n' "$name" - "$(<"$dir/run/$name.port")" "not running, see $dir/log/$name.log"
    fi
  done
  printf 'total %s MiB resident, %s\n' "$total" "$(<"$dir/run/server")"
  return "$all"
}

plane_fault() {
  local dir=$1 action=$2 name=${3:-} signal=${4:-KILL} pid
  case $name in apiserver | controller-manager | scheduler) name=kube-$name ;; esac
  [[ -n $name && -e $dir/run/$name.port ]] ||
    die "$action: no component '$name' in this plane; it has $(components "$dir" | paste -sd' ')"
  if [[ $action == kill || $action == restart ]]; then
    if pid=$(live_pid "$dir" "$name"); then
      kill "-$signal" "$pid"
      if [[ $signal == KILL ]]; then await_end "$dir" "$name" 10 || die "$name (process $pid) did not end"; fi
    elif [[ $action == kill ]]; then
      die "$name does not run"
    fi
  fi
  if [[ $action == start || $action == restart ]]; then
    pid=$(live_pid "$dir" "$name") && die "$name runs already (process $pid)"
    rm -f "$dir/run/$name.pid"
    await_unused "$(<"$dir/run/$name.port")" || die "another process listens on the port of $name, $(<"$dir/run/$name.port")"
    spawn "$dir" "$name"
    await_ready "$dir" "$name" || { show_failure "$dir"; die "$name did not come back"; }
  fi
}

# plane_compact D: compacts etcd at its newest revision, through its own JSON gateway.
plane_compact() {
  local dir=$1 revision
  local -a etcd=("$dir/bin/kubectl" --kubeconfig=/dev/null --server="http://127.0.0.1:$(<"$dir/run/etcd.port")"
    create --raw)
  revision=$("${etcd[@]}" /v3/kv/range -f - <<<'{"key":"AA==","count_only":true}' |
    sed -n 's/.*"revision":"\([0-9]*\)".*/\1/p')
  [[ -n $revision ]] || die "etcd does not say its revision"
  "${etcd[@]}" /v3/kv/compaction -f - <<<"{\"revision\":\"$revision\",\"physical\":true}" >/dev/null
  printf '%s\n' "$revision"
}
