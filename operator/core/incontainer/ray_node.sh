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

for name in ROLE RANK HEAD_ADDRESS NODE_ADDRESS PORT_BASE GPUS CPUS OBJECT_STORE_BYTES CHECK; do
  eval "value=\${VERL_RUN_${name}:-}"
  [ -n "$value" ] || fail 213 NodeMisconfigured "VERL_RUN_${name} is empty; the operator sets it in every pod"
done
case "$VERL_RUN_PORT_BASE" in *[!0-9]*) fail 213 NodeMisconfigured "VERL_RUN_PORT_BASE is not a number" ;; esac
command -v ray > /dev/null || fail 213 NodeMisconfigured "no program ray in PATH of this image"
command -v python3 > /dev/null || fail 213 NodeMisconfigured "no program python3 in PATH of this image"

# What only holds inside the container. Without it RDMA or Ray fail later, far from the cause. The program tells its findings
# itself, with a code of its own; anything else means that it did not judge, which is no pass.
code=0
"$VERL_RUN_CHECK" run || code=$?
case "$code" in
0) ;;
211|213) exit "$code" ;;
*) fail 211 ContainerUnfit "$VERL_RUN_CHECK ended with exit code $code before it had judged this container; the init container verl-check brings it" ;;
esac

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
