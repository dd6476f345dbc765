# Owns: the flags of each component, written as run/NAME.argv, and how to see that it is ready.
# Leaves to others: when they start and stop.
# shellcheck shell=bash

# argv D NAME PORT WORD...: records the command of a component, so that it can be started again exactly so.
argv() {
  local dir=$1 name=$2 port=$3
  shift 3
  printf '%s\0' "$@" >"$dir/run/$name.argv"
  printf '%s\n' "$port" >"$dir/run/$name.port"
  printf '%s\n' "$name" >>"$dir/run/order"
}

# Metadata for the objects whose writers tests ask about, whole requests of new pods, nothing for the rest: the log grows a
# kilobyte a request.
audit_policy() {
  cat <<'POLICY'
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Request
  verbs: [create]
  resources:
  - group: ""
    resources: [pods]
- level: Metadata
  resources:
  - group: ""
    resources: [pods, pods/binding, pods/status, pods/eviction, secrets]
  - group: coordination.k8s.io
    resources: [leases]
  - group: verl.run
    resources: ["*"]
- level: None
POLICY
}

# Each component's environment switches:
#   VERL_PLANE_NODE_GRACE     seconds without a lease until a node turns Unknown (16); kwok renews a quarter of the lease
#   VERL_PLANE_NODE_LEASE     seconds of the simulated kubelets' leases (20)
#   VERL_PLANE_APISERVER_ARGS, VERL_PLANE_CONTROLLER_MANAGER_ARGS, VERL_PLANE_SCHEDULER_ARGS, VERL_PLANE_KWOK_ARGS,
#   VERL_PLANE_ETCD_ARGS      words appended to the command
describe_components() {
  local dir=$1 bin=$1/bin pki=$1/pki with=$2
  local etcd peer api controller scheduler kwok
  etcd=$(free_port) peer=$(free_port) api=$(free_port)
  controller=$(free_port) scheduler=$(free_port) kwok=$(free_port)
  local server=https://127.0.0.1:$api
  local -a more
  : >"$dir/run/order"
  printf '%s\n' "$server" >"$dir/run/server"
  audit_policy >"$dir/audit-policy.yaml"

  read -ra more <<<"${VERL_PLANE_ETCD_ARGS:-}"
  argv "$dir" etcd "$etcd" "$bin/etcd" --name=node0 --data-dir="$dir/etcd" \
    --listen-client-urls="http://127.0.0.1:$etcd" --advertise-client-urls="http://127.0.0.1:$etcd" \
    --listen-peer-urls="http://127.0.0.1:$peer" --initial-advertise-peer-urls="http://127.0.0.1:$peer" \
    --initial-cluster="node0=http://127.0.0.1:$peer" --auto-compaction-retention=1 \
    --quota-backend-bytes=8589934592 --unsafe-no-fsync=true --log-level=warn "${more[@]}"

  # Without the controllers nobody makes the `default` service account that the ServiceAccount admission asks for.
  local -a admission=()
  [[ ,$with, == *,controller-manager,* ]] || admission=(--disable-admission-plugins=ServiceAccount)
  read -ra more <<<"${VERL_PLANE_APISERVER_ARGS:-}"
  argv "$dir" kube-apiserver "$api" "$bin/kube-apiserver" --etcd-servers="http://127.0.0.1:$etcd" \
    --etcd-prefix=/registry --bind-address=127.0.0.1 --secure-port="$api" --cert-dir="$pki" \
    --tls-cert-file="$pki/serving.crt" --tls-private-key-file="$pki/serving.key" --client-ca-file="$pki/ca.crt" \
    --authorization-mode=Node,RBAC --service-cluster-ip-range=10.0.0.0/24 --allow-privileged=true \
    --endpoint-reconciler-type=none --service-account-issuer="https://kubernetes.default.svc" \
    --service-account-key-file="$pki/sa.pub" --service-account-signing-key-file="$pki/sa.key" \
    --requestheader-client-ca-file="$pki/front-proxy-ca.crt" --requestheader-allowed-names=front-proxy-client \
    --requestheader-extra-headers-prefix=X-Remote-Extra- --requestheader-group-headers=X-Remote-Group \
    --requestheader-username-headers=X-Remote-User --proxy-client-cert-file="$pki/front-proxy-client.crt" \
    --proxy-client-key-file="$pki/front-proxy-client.key" --audit-policy-file="$dir/audit-policy.yaml" \
    --audit-log-path="$dir/audit.log" "${admission[@]}" "${more[@]}"

  local -a serving=(--bind-address=127.0.0.1 --tls-cert-file="$pki/serving.crt"
    --tls-private-key-file="$pki/serving.key" --leader-elect=false)
  local controllers=garbage-collector-controller,namespace-controller,serviceaccount-controller
  controllers+=,root-ca-certificate-publisher-controller,daemonset-controller,deployment-controller
  controllers+=,replicaset-controller,job-controller,node-lifecycle-controller,taint-eviction-controller
  controllers+=,pod-garbage-collector-controller,disruption-controller,resourcequota-controller
  controllers+=,validatingadmissionpolicy-status-controller,clusterrole-aggregation-controller
  if [[ ,$with, == *,controller-manager,* ]]; then
    local config=$dir/kubeconfig/kube-controller-manager
    read -ra more <<<"${VERL_PLANE_CONTROLLER_MANAGER_ARGS:-}"
    argv "$dir" kube-controller-manager "$controller" "$bin/kube-controller-manager" --kubeconfig="$config" \
      --authentication-kubeconfig="$config" --authorization-kubeconfig="$config" --secure-port="$controller" \
      "${serving[@]}" --controllers="$controllers" --root-ca-file="$pki/ca.crt" \
      --service-account-private-key-file="$pki/sa.key" --use-service-account-credentials=true \
      --node-monitor-period=1s --node-monitor-grace-period="${VERL_PLANE_NODE_GRACE:-16}s" \
      --kube-api-qps=200 --kube-api-burst=400 "${more[@]}"
  fi
  if [[ ,$with, == *,scheduler,* ]]; then
    local config=$dir/kubeconfig/kube-scheduler
    read -ra more <<<"${VERL_PLANE_SCHEDULER_ARGS:-}"
    argv "$dir" kube-scheduler "$scheduler" "$bin/kube-scheduler" --kubeconfig="$config" \
      --authentication-kubeconfig="$config" --authorization-kubeconfig="$config" --secure-port="$scheduler" \
      "${serving[@]}" --kube-api-qps=1000 --kube-api-burst=2000 "${more[@]}"
  fi
  if [[ ,$with, == *,kwok,* ]]; then
    # By label, not by annotation: only a label's removal ends the renewal of the node's lease.
    read -ra more <<<"${VERL_PLANE_KWOK_ARGS:-}"
    argv "$dir" kwok "$kwok" "$bin/kwok" --kubeconfig="$dir/kubeconfig/kwok" --config="$dir/stages.yaml" \
      --manage-all-nodes=false --manage-nodes-with-label-selector=kwok.x-k8s.io/node=fake \
      --node-lease-duration-seconds="${VERL_PLANE_NODE_LEASE:-20}" --cidr=10.64.0.0/16 --node-ip=127.0.0.1 \
      --node-port="$kwok" --server-address="127.0.0.1:$kwok" --tls-cert-file="$pki/serving.crt" \
      --tls-private-key-file="$pki/serving.key" -v=WARN "${more[@]}"
  fi
}

# answers D NAME: true when the component's own health page says ok.
answers() {
  local dir=$1 port
  port=$(<"$dir/run/$2.port")
  local -a get=("$dir/bin/kubectl" --request-timeout=2s)
  case $2 in
    etcd) "${get[@]}" --kubeconfig=/dev/null --server="http://127.0.0.1:$port" get --raw /health ;;
    kwok) "${get[@]}" --kubeconfig=/dev/null --server="http://127.0.0.1:$port" get --raw /healthz ;;
    kube-apiserver) "${get[@]}" --kubeconfig="$dir/kubeconfig/admin" get --raw /readyz ;;
    kube-scheduler) "${get[@]}" --kubeconfig="$dir/kubeconfig/admin" --server="https://127.0.0.1:$port" get --raw /readyz ;;
    *) "${get[@]}" --kubeconfig="$dir/kubeconfig/admin" --server="https://127.0.0.1:$port" get --raw /healthz ;;
  esac >/dev/null 2>&1
}

# await_ready D NAME: returns 1 when the process ended or the deadline passed, having said why.
await_ready() {
  local dir=$1 name=$2 limit=${VERL_PLANE_TIMEOUT:-60} pid
  local port=$(($(<"$dir/run/$name.port"))) until=$((SECONDS + limit))
  while ((SECONDS < until)); do
    pid=$(live_pid "$dir" "$name") || { say "$name ended while starting"; return 1; }
    if listens "$pid" "$port" && answers "$dir" "$name"; then return 0; fi
    sleep 0.1
  done
  say "$name is not ready after $limit s"
  return 1
}
