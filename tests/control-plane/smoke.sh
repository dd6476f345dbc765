#!/usr/bin/env bash
# Owns: the proof that scripts/control-plane gives a real control plane: stamped version, controllers, scheduler with
# host ports, simulated nodes and pods, faults, and nothing left behind. Leaves what verl-operator does on it to others.
set -euo pipefail

repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
plane=$repo/scripts/control-plane
dir=$(mktemp -d "${TMPDIR:-/tmp}/verl-plane-smoke.XXXXXX")
clean_up() {
  rm -rf "$dir".*
  if [[ -e $dir/plane ]]; then "$plane" down --dir "$dir"; else rm -rf "$dir"; fi
}
trap clean_up EXIT
trap 'exit 143' INT TERM

step() { printf '[%3d s] %s\n' "$SECONDS" "$*"; }
fail() {
  printf 'FAILED: %s\n' "$*" >&2
  "$plane" status --dir "$dir" >&2 || true
  exit 1
}

# eventually SECONDS WHAT COMMAND...: the command must succeed within the deadline.
eventually() {
  local until=$((SECONDS + $1)) what=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    ((SECONDS < until)) || fail "$what: not so after the deadline"
    sleep 0.2
  done
}

# is VALUE RESOURCE JSONPATH: compares what the apiserver holds.
is() { [[ $(kubectl get --ignore-not-found "$2" -o jsonpath="$3") == "$1" ]]; }

gpu_node() {
  cat <<NODE
---
apiVersion: v1
kind: Node
metadata:
  name: gpu-$1
  labels: {kwok.x-k8s.io/node: fake, kubernetes.io/hostname: gpu-$1, example.com/rack: r0}
status:
  addresses: [{type: InternalIP, address: 10.1.0.$1}, {type: Hostname, address: gpu-$1}]
  capacity: {cpu: "192", memory: 2Ti, pods: "110", nvidia.com/gpu: "8"}
  allocatable: {cpu: "190", memory: 2000Gi, pods: "110", nvidia.com/gpu: "8"}
  nodeInfo: {bootID: boot-$1, systemUUID: uuid-$1}
NODE
}

# pinned_pod NAME NODE GPUS: hostNetwork, one host port, tied to the node by name.
pinned_pod() {
  cat <<POD
---
apiVersion: v1
kind: Pod
metadata: {name: $1}
spec:
  restartPolicy: Never
  hostNetwork: true
  affinity:
    nodeAffinity:
      requiredDuringSchedulingIgnoredDuringExecution:
        nodeSelectorTerms:
        - matchFields: [{key: metadata.name, operator: In, values: [$2]}]
  containers:
  - name: ray
    image: example.com/ray
    ports: [{containerPort: 20000, hostPort: 20000}]
    resources: {limits: {nvidia.com/gpu: "$3"}}
  - name: driver
    image: example.com/ray
POD
}

step "what makes no sense is refused before anything is made or built"
refused() {  # CODE WHAT-IT-SAYS COMMAND...
  local wanted=$1 says=$2 code=0
  shift 2
  "$@" >"$dir.said" 2>&1 || code=$?
  ((code == wanted)) || fail "$* ended with $code, wanted $wanted: $(<"$dir.said")"
  grep -q -e "$says" "$dir.said" || fail "$* says: $(<"$dir.said")"
}
refused 64 "unknown command 'bogus'" "$plane" bogus
refused 64 "unknown option --bogus" "$plane" up --bogus
refused 64 "takes no 'extra'" "$plane" up extra
refused 64 "which command" "$plane" run
refused 1 "there is no $dir.absent" "$plane" down --dir "$dir.absent"
refused 1 "--owner banana" "$plane" up --owner banana --dir "$dir.new"
refused 1 "unknown part 'banana'" "$plane" up --with banana --dir "$dir.new"
[[ ! -e $dir.new ]] || fail "a refused up made $dir.new"
for script in demo build test control-plane install-packages; do
  refused 0 "^usage: " "$repo/scripts/$script" --help
  refused 64 "bogus" "$repo/scripts/$script" bogus
done
refused 64 "got also 'more'" "$repo/scripts/demo" --stay more

step "up"
environment=$("$plane" up --dir "$dir" --owner "$$")
eval "$environment"
PATH=$VERL_PLANE_BIN:$PATH
"$plane" status
mapfile -t pids < <(cut -d' ' -f1 "$dir"/run/*.pid)
((${#pids[@]} == 6)) || fail "wanted 5 components and the guard, saw ${#pids[@]}"

step "a second plane in the same directory is refused"
if "$plane" up --dir "$dir" 2>"$dir/refusal"; then fail "two planes in one directory"; fi
grep -q "a plane runs in $dir" "$dir/refusal" || fail "the refusal says: $(<"$dir/refusal")"

step "the version is stamped"
if [[ -z ${KUBEBUILDER_ASSETS:-} ]]; then
  kubectl version | grep -qx "Server Version: v1.36.3" || fail "kubectl version says: $(kubectl version)"
fi

step "what is owned goes with its owner"
kubectl create configmap owner >/dev/null
uid=$(kubectl get configmap owner -o jsonpath='{.metadata.uid}')
kubectl create -f - >/dev/null <<OWNED
apiVersion: v1
kind: ConfigMap
metadata:
  name: owned
  ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: owner, uid: $uid}]
OWNED
kubectl delete configmap owner >/dev/null
eventually 30 "the owned ConfigMap is collected" is "" configmap/owned '{.metadata.name}'

step "a namespace can be deleted"
kubectl create namespace passing >/dev/null
kubectl delete namespace passing --timeout=30s >/dev/null || fail "the namespace stays"

step "simulated nodes become Ready and keep what was given"
for i in 4 5 6; do gpu_node $i; done | kubectl create -f - >/dev/null
kubectl wait --for=condition=Ready node --all --timeout=30s >/dev/null || fail "nodes are not Ready"
is boot-5 node/gpu-5 '{.status.nodeInfo.bootID}' || fail "the boot id given is not kept"
is 8 node/gpu-5 '{.status.allocatable.nvidia\.com/gpu}' || fail "the GPUs given are not kept"

step "one host port, one pod a node: the first runs with the node's address, the second stays Pending"
pinned_pod first gpu-5 4 | kubectl create -f - >/dev/null
kubectl wait --for=condition=Ready pod/first --timeout=30s >/dev/null || fail "the first pod does not run"
is "gpu-5 10.1.0.5 Running" pod/first '{.spec.nodeName} {.status.podIP} {.status.phase}' ||
  fail "the first pod is $(kubectl get pod first -o wide)"
pinned_pod second gpu-5 4 | kubectl create -f - >/dev/null
eventually 30 "the second pod is unschedulable" is Unschedulable pod/second \
  '{.status.conditions[?(@.type=="PodScheduled")].reason}'
kubectl get pod second -o jsonpath='{.status.conditions[*].message}' | grep -q "free ports" ||
  fail "the second pod waits for something else: $(kubectl describe pod second)"
grep '"resource":"pods".*"subresource":"binding"' "$VERL_PLANE_AUDIT_LOG" | grep -q '"username":"system:kube-scheduler"' ||
  fail "the audit log has no binding by the scheduler"

step "containers end with the code asked for; the phase follows the last of them"
kubectl annotate pod first sim.verl.run/exit-code=3 >/dev/null
eventually 30 "the driver ended with 3" is 3 pod/first '{.status.containerStatuses[?(@.name=="driver")].state.terminated.exitCode}'
is Running pod/first '{.status.phase}' || fail "the phase is not Running while ray runs"
kubectl delete pod second --wait=true --timeout=30s >/dev/null || fail "a deleted pod stays"

step "other lives: rejected, held at the start, held at the end, a code for the only container"
pod() { kubectl run "$1" --image=example.com/x --restart=Never --overrides="{\"spec\":{\"nodeName\":\"gpu-6\"}}" --annotations="$2" >/dev/null; }
pod rejected sim.verl.run/reject=TopologyAffinityError
pod pulling sim.verl.run/hold-start=ImagePullBackOff
pod staying sim.verl.run/hold-delete=true
pod finished sim.verl.run/exit-code=0
eventually 30 "rejected" is "Failed TopologyAffinityError" pod/rejected '{.status.phase} {.status.reason}'
eventually 30 "pulling" is "Pending ImagePullBackOff" pod/pulling '{.status.phase} {.status.containerStatuses[0].state.waiting.reason}'
kubectl annotate pod pulling sim.verl.run/hold-start- >/dev/null
eventually 30 "pulled" is Running pod/pulling '{.status.phase}'
eventually 30 "finished" is Succeeded pod/finished '{.status.phase}'
eventually 30 "staying runs" is Running pod/staying '{.status.phase}'
kubectl delete pod staying --wait=false >/dev/null
sleep 2 # the one look at something that must not happen
is Running pod/staying '{.status.phase}' || fail "a pod held at its end is gone"
kubectl annotate pod staying sim.verl.run/hold-delete- >/dev/null
eventually 30 "the released pod goes" is "" pod/staying '{.metadata.name}'

step "a node turns not Ready and back"
kubectl annotate node gpu-4 sim.verl.run/not-ready=true >/dev/null
kubectl wait --for=condition=Ready=False node/gpu-4 --timeout=30s >/dev/null || fail "the node stays Ready"
kubectl annotate node gpu-4 sim.verl.run/not-ready- >/dev/null
kubectl wait --for=condition=Ready node/gpu-4 --timeout=30s >/dev/null || fail "the node stays not Ready"

step "a lost node turns Unknown"
kubectl label node gpu-4 kwok.x-k8s.io/node- >/dev/null
lost=$SECONDS

step "a killed apiserver and a killed etcd come back with everything"
uid=$(kubectl get pod first -o jsonpath='{.metadata.uid}')
"$plane" kill kube-apiserver
if kubectl get nodes --request-timeout=2s >/dev/null 2>&1; then fail "a killed apiserver answers"; fi
"$plane" start kube-apiserver
is "$uid" pod/first '{.metadata.uid}' || fail "the pod is not the same after the restart of kube-apiserver"
"$plane" restart etcd
eventually 30 "etcd's content is served again" is "$uid" pod/first '{.metadata.uid}'
kubectl create configmap after >/dev/null || fail "no write after the restarts"
pinned_pod third gpu-6 8 | kubectl create -f - >/dev/null
kubectl wait --for=condition=Ready pod/third --timeout=60s >/dev/null || fail "scheduler or kwok did not ride out the restart"

eventually $((lost + 60 - SECONDS)) "the lost node is Unknown" is "Unknown NodeStatusUnknown" node/gpu-4 \
  '{.status.conditions[?(@.type=="Ready")].status} {.status.conditions[?(@.type=="Ready")].reason}'
is True node/gpu-6 '{.status.conditions[?(@.type=="Ready")].status}' || fail "a node whose lease is renewed is not Ready"

step "a compacted revision is gone"
"$plane" compact >/dev/null
"$plane" restart kube-apiserver
for what in "resourceVersion=2&watch=1&timeoutSeconds=5" "resourceVersion=2&resourceVersionMatch=Exact"; do
  kubectl get --raw "/api/v1/configmaps?$what" >"$dir/gone" 2>&1 || true
  grep -q 'too old' "$dir/gone" ||
    fail "wanted 410 for $what, got: $(head -c 300 "$dir/gone")"
done

mapfile -t pids < <(cut -d' ' -f1 "$dir"/run/*.pid)
step "down"
"$plane" down
[[ ! -e $dir ]] || fail "$dir is still there"
for pid in "${pids[@]}"; do
  if [[ -e /proc/$pid/cmdline ]] && tr '\0' ' ' <"/proc/$pid/cmdline" | grep -q "$dir"; then fail "process $pid still runs"; fi
done

step "run: exit code passed on, plane gone, also when it is killed"
cat >"${dir}.probe" <<'PROBE'
[[ $(kubectl get --raw /readyz) == ok ]] && printf '%s\n' "$VERL_PLANE_DIR" >"$1" && printf '%s\n' "$$" >"$1.command" && cp "$VERL_PLANE_DIR"/run/etcd.pid "$1.pid"
[[ -z ${2:-} ]] || exec sleep "$2"
exit 7
PROBE
code=0
TMPDIR=${TMPDIR:-/tmp} "$plane" run --with none -- bash "$dir.probe" "$dir.seen" 2>"$dir.err" || code=$?
((code == 7)) || fail "run returned $code: $(<"$dir.err")"
[[ ! -e $(<"$dir.seen") ]] || fail "run left $(<"$dir.seen")"
kept=$(sed -n "s/^logs are kept in //p" "$dir.err")
[[ -s $kept/log/etcd.log || -e $kept/log/kube-apiserver.log ]] || fail "a failed command's logs are not kept: $(<"$dir.err")"
rm -rf "$kept"

step "run: an interrupted command, and one whose reader went away, leave no logs"
printf 'kill -PIPE $$\n' >"$dir.pipe"
"$plane" run --with none -- bash "$dir.pipe" >/dev/null 2>"$dir.err" || true
if grep -q "logs are kept" "$dir.err"; then fail "a closed pipe kept logs: $(<"$dir.err")"; fi

for signal in TERM KILL; do
  rm -f "$dir.seen"
  "$plane" run --with none -- bash "$dir.probe" "$dir.seen" 600 2>"$dir.err" &
  runner=$!
  eventually 60 "run has started its command" test -s "$dir.seen.pid" -a -s "$dir.seen"
  kill "-$signal" "$runner"
  code=0
  wait "$runner" 2>/dev/null || code=$?
  ((code >= 128)) || fail "run returned $code after $signal"
  eventually 40 "nothing is left after SIG$signal" test ! -e "$(<"$dir.seen")"
  for of in pid command; do
    read -r pid _ <"$dir.seen.$of"
    [[ ! -e /proc/$pid ]] || [[ $(awk '{print $3}' "/proc/$pid/stat") == Z ]] || fail "etcd or the command, process $pid, runs after SIG$signal"
  done
  if grep -q "logs are kept" "$dir.err"; then fail "SIG$signal kept logs: $(<"$dir.err")"; fi
  [[ $signal == KILL ]] || grep -qx "cleaning up…" "$dir.err" || fail "SIG$signal: nothing says what takes its time: $(<"$dir.err")"
  rm -f "$dir.seen.pid"
done
step "all as it should be"
