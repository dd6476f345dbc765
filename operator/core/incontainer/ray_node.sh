#!/bin/sh
# Starts Ray in container "ray" of every pod: the head on rank 0, a worker elsewhere. Reads environment variables only
# (table in docs/decisions/003-pod-commands.md), becomes Ray by exec, so Ray's exit code is the container's.
# Leaves to others: whether the cluster is whole (driver_gate.py) and what a dead container means (the operator).
# Kubernetes expands "dollar dollar" and "dollar (NAME)" in arguments, so neither may appear here.
set -eu

fail() { # CODE REASON MESSAGE
  echo "ray_node: $3" >&2
  printf '{"verl.run/ray":"%s","message":"%s"}\n' "$2" "$3" > "${VERL_RUN_TERMINATION_LOG:-/dev/termination-log}" || true
  exit "$1"
}

for name in ROLE RANK HEAD_ADDRESS NODE_ADDRESS PORT_BASE GPUS CPUS OBJECT_STORE_BYTES; do
  eval "value=\${VERL_RUN_${name}:-}"
  [ -n "$value" ] || fail 213 NodeMisconfigured "VERL_RUN_${name} is empty; the operator sets it in every pod"
done
case "$VERL_RUN_PORT_BASE" in *[!0-9]*) fail 213 NodeMisconfigured "VERL_RUN_PORT_BASE is not a number" ;; esac
command -v ray > /dev/null || fail 213 NodeMisconfigured "no program ray in PATH of this image"
command -v python3 > /dev/null || fail 213 NodeMisconfigured "no program python3 in PATH of this image"

# The node check of the container's own inside (limits, devices, NCCL); it writes its findings as termination message.
if [ -n "${VERL_RUN_CHECK:-}" ]; then
  "$VERL_RUN_CHECK" || { echo "ray_node: $VERL_RUN_CHECK found this container unfit" >&2; exit 211; }
fi

# What only holds inside the container. Without it RDMA or Ray fail later, far from the cause; what cannot be read is unfit too.
if [ -n "${VERL_RUN_SHM_BYTES:-}" ]; then
  kib=`df -Pk /dev/shm 2> /dev/null | { read -r _; read -r _ size _; echo "${size:-}"; }` || true
  case "$kib" in ""|*[!0-9]*) fail 211 ContainerUnfit "the size of /dev/shm cannot be read, wants $VERL_RUN_SHM_BYTES bytes; does the image have df?" ;; esac
  [ "$((kib * 1024))" -ge "$((VERL_RUN_SHM_BYTES / 10 * 9))" ] ||
    fail 211 ContainerUnfit "/dev/shm has $((kib * 1024)) bytes, wants $VERL_RUN_SHM_BYTES: the memory-backed volume shm is not mounted there"
fi
if [ "${VERL_RUN_RDMA_DEVICES:-0}" -gt 0 ]; then
  # IPC_LOCK lifts the limit of locked memory, but only where the capability is effective: not for every non-root user.
  capabilities=0
  while read -r name value _; do [ "$name" != CapEff: ] || capabilities=$((0x$value)); done < /proc/self/status
  memlock=`ulimit -l`
  [ "$memlock" = unlimited ] || [ "$((capabilities >> 14 & 1))" -eq 1 ] ||
    fail 211 ContainerUnfit "locked memory is limited to $memlock KiB and IPC_LOCK is not effective, wants either: RDMA cannot register memory"
  open=0
  for device in /dev/infiniband/uverbs*; do [ ! -r "$device" ] || [ ! -w "$device" ] || open=$((open + 1)); done
  [ "$open" -ge "$VERL_RUN_RDMA_DEVICES" ] ||
    fail 211 ContainerUnfit "$open RDMA devices (/dev/infiniband/uverbs*) can be opened, wants $VERL_RUN_RDMA_DEVICES: ask the device plugin of the node"
fi

# Ray opens a socket per peer and worker; container runtimes often start at 1024.
ulimit -n 65536 2> /dev/null || ulimit -n "`ulimit -H -n`" || true

base=$VERL_RUN_PORT_BASE
gcs=$VERL_RUN_HEAD_ADDRESS:$base
export DASHBOARD_METRIC_PORT=$((base + 9)) AUTOSCALER_METRIC_PORT=$((base + 10))

# Worker ports 0/0 mean "any ephemeral port"; every other listener is pinned inside the block.
set -- --block --disable-usage-stats \
  --node-ip-address="$VERL_RUN_NODE_ADDRESS" \
  --num-gpus="$VERL_RUN_GPUS" --num-cpus="$VERL_RUN_CPUS" \
  --object-store-memory="$VERL_RUN_OBJECT_STORE_BYTES" \
  --node-manager-port=$((base + 3)) --object-manager-port=$((base + 4)) \
  --runtime-env-agent-port=$((base + 5)) \
  --dashboard-agent-listen-port=$((base + 6)) --dashboard-agent-grpc-port=$((base + 7)) \
  --metrics-export-port=$((base + 8)) \
  --min-worker-port=0 --max-worker-port=0

case "$VERL_RUN_ROLE" in
head)
  # An explicit --include-dashboard turns an image without ray[default] into an error instead of a silent wait.
  exec ray start --head --include-dashboard=true --port="$base" \
    --dashboard-host="$VERL_RUN_NODE_ADDRESS" --dashboard-port=$((base + 1)) \
    --ray-client-server-port=$((base + 2)) "$@"
  ;;
worker)
  # `ray start --address` to a head that is not there hangs for minutes without a word; waiting here says what is missing.
  python3 - "$VERL_RUN_HEAD_ADDRESS" "$base" "${VERL_RUN_JOIN_SECONDS:-600}" << 'PYTHON' ||
import socket, sys, time
host, port, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
deadline = time.monotonic() + seconds
print(f"ray_node: waiting up to {seconds:.0f} s for the Ray head at {host}:{port}", flush=True)
while True:
    try:
        socket.create_connection((host, port), timeout=3).close()
        break
    except OSError:
        if time.monotonic() >= deadline:
            sys.exit(1)
        time.sleep(1)
PYTHON
    fail 212 HeadUnreachable "rank $VERL_RUN_RANK found no Ray head at $gcs within ${VERL_RUN_JOIN_SECONDS:-600} s"
  exec ray start --address="$gcs" "$@"
  ;;
*) fail 213 NodeMisconfigured "VERL_RUN_ROLE is neither head nor worker" ;;
esac
