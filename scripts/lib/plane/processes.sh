# Owns: the child processes of a plane: started in a session of their own, known by process id and start time, ended by
# those alone, so that a reused process id is never hit. Leaves to others: which programs with which flags.
# A plane directory D holds run/NAME.argv (what to start), run/NAME.pid ("PID START_TIME"), run/NAME.port, log/NAME.log.
# shellcheck shell=bash

# start_time PID: field 22 of /proc/PID/stat; fails when there is no such process or it is a zombie. One whose first
# thread is a zombie while others still end is not over: it holds its ports.
start_time() {
  local stat
  { stat=$(<"/proc/$1/stat"); } 2>/dev/null || return 1
  stat=${stat##*) }
  local -a field
  read -ra field <<<"$stat"
  if [[ ${field[0]} == [ZX] ]]; then
    local -a threads=("/proc/$1/task/"*)
    ((${#threads[@]} > 1)) || return 1
  fi
  printf '%s\n' "${field[19]}"
}

# live_pid D NAME: prints the process id of a component that runs and is still the one that was started.
live_pid() {
  local pid started
  read -r pid started 2>/dev/null <"$1/run/$2.pid" || return 1
  [[ $(start_time "$pid") == "$started" ]] || return 1
  printf '%s\n' "$pid"
}

# spawn D NAME: starts what run/NAME.argv says. No descriptor of the caller is passed on: a plane must not hold open the
# pipe or lock of whoever started it.
spawn() {
  local dir=$1 name=$2
  local -a argv
  mapfile -d '' -t argv <"$dir/run/$name.argv"
  # shellcheck disable=SC2016  # expanded by the inner shell
  setsid bash -c '
    pidfile=$1; shift
    for fd in /proc/self/fd/*; do
      fd=${fd##*/}
      if (( fd > 2 && fd != 255 )); then eval "exec $fd>&-"; fi
    done
    stat=$(</proc/$$/stat); stat=${stat##*) }; set -- "$pidfile" "$stat" "$@"
    read -ra field <<<"$2"
    printf "%s %s\n" "$$" "${field[19]}" >"$1.new" && mv "$1.new" "$1"
    shift 2
    exec "$@"' spawn "$dir/run/$name.pid" "${argv[@]}" </dev/null >>"$dir/log/$name.log" 2>&1 &
  disown
  local tries=100
  while [[ ! -e $dir/run/$name.pid ]]; do
    ((tries-- > 0)) || die "$name was not started within 10 s; see $dir/log/$name.log"
    sleep 0.1
  done
}

# await_end D NAME SECONDS: true once the process is gone.
await_end() {
  local left=$(($3 * 20))
  while live_pid "$1" "$2" >/dev/null; do
    ((left-- > 0)) || return 1
    sleep 0.05
  done
}

# end D NAME: TERM, KILL after 20 s. A stopped process is continued, or it would never see the TERM.
end() {
  local pid
  if pid=$(live_pid "$1" "$2"); then
    kill -TERM "$pid" 2>/dev/null || true
    kill -CONT "$pid" 2>/dev/null || true
    if ! await_end "$1" "$2" 20; then
      say "$2 did not end 20 s after TERM; killing it"
      kill -KILL "$pid" 2>/dev/null || true
      await_end "$1" "$2" 10 || { say "$2 (process $pid) cannot be killed"; return 1; }
    fi
  fi
  rm -f "$1/run/$2.pid"
}

# listens PID PORT: true when that very process has a listening socket on the port, and not a stranger.
listens() {
  local hex inode fd
  hex=$(printf ':%04X' "$2")
  inode=$(awk -v port="$hex" '$4 == "0A" && substr($2, length($2) - 4) == port {print $10; exit}' \
    "/proc/$1/net/tcp" "/proc/$1/net/tcp6" 2>/dev/null) || return 1
  [[ -n $inode ]] || return 1
  for fd in "/proc/$1/fd/"*; do
    [[ $(readlink "$fd" 2>/dev/null) == "socket:[$inode]" ]] && return 0
  done
  return 1
}

# await_unused PORT: true once nobody listens there any more.
await_unused() {
  local hex
  hex=$(printf ':%04X' "$1")
  for _ in {1..100}; do
    awk -v port="$hex" '$4 == "0A" && substr($2, length($2) - 4) == port {found = 1} END {exit found}' \
      /proc/net/tcp /proc/net/tcp6 2>/dev/null && return 0
    sleep 0.1
  done
  return 1
}

# free_port: prints a port nobody listens on. Ports lie below the range for outgoing connections: a client that keeps
# trying a closed port of that range can connect to itself and so hold the port that a restarted server needs.
free_port() {
  local port hex
  for _ in {1..200}; do
    port=$((10000 + (RANDOM * 32768 + RANDOM) % 10000))
    hex=$(printf ':%04X' "$port")
    if ! awk -v port="$hex" 'substr($2, length($2) - 4) == port {found = 1} END {exit !found}' \
      /proc/net/tcp /proc/net/tcp6 2>/dev/null; then
      printf '%s\n' "$port"
      return 0
    fi
  done
  die "no free port between 10000 and 19999"
}
