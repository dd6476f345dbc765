#include <array>

#include "diagnosis/rule.h"

namespace verl::diagnosis {
namespace {

constexpr std::array kRules{
    Rule{"pod-shm-missing", Severity::Warning, "a GPU container without a memory-backed /dev/shm", "It gets 64 MiB; NCCL and data loaders need more and fail with \"No space left on device\".",
         "mount an emptyDir of medium Memory, with a sizeLimit, at /dev/shm"},
    Rule{"pod-memlock", Severity::Warning, "an RDMA container without the capability IPC_LOCK", "limits.conf does not apply in containers; with a small limit ibv_reg_mr fails with \"Cannot allocate memory\".",
         "add IPC_LOCK to securityContext.capabilities.add"},
    Rule{"pod-host-network", Severity::Warning, "a GPU pod of several that does not use the node's network", "NCCL sees the pod's own interface; RDMA devices then need a network of their own in the pod.",
         "set hostNetwork: true and dnsPolicy: ClusterFirstWithHostNet, or attach the RDMA networks"},
    Rule{"pod-no-rdma-resource", Severity::Warning, "a GPU container that asks for no RDMA device", "Without the device in the container NCCL falls back to sockets between nodes. Information where one node is the whole job.",
         "ask for the cluster's RDMA resource, once for each device"},
    Rule{"pod-memory-request-below-limit", Severity::Info, "memory requested below the limit", "The pod is not of the guaranteed class and is among the first to be evicted.", "request as much memory as the limit"},
    Rule{"pod-not-alive", Severity::Error, "a pod that has failed or was evicted", "It never runs again, whatever restartPolicy says: whoever counts it as running waits for ever.", "delete it, or let the attempt fail"},
    Rule{"ray-head-carries-gpus", Severity::Info, "the Ray head has GPUs", "It counts in nodes times GPUs per node.", ""},
    Rule{"ray-no-gpu", Severity::Info, "a Ray cluster without GPUs", "Nothing of it can train.", ""},
    Rule{"ray-name-length", Severity::Error, "a name whose derived names are too long", "Names and label values of 63 characters and more are refused later, when nobody looks.", "shorten the name"},
    Rule{"ray-images-differ", Severity::Error, "head and workers run different images", "Ray refuses nodes of another Ray or Python version, for ever.", "use one image for all"},
    Rule{"ray-unsupported-field", Severity::Warning, "a field that a VerlJob has no counterpart for", "An import would lose it.", "decide what takes its place, and remove it"},
    Rule{"ray-certificates-need-time", Severity::Info, "certificates are made when pods start", "A skewed clock gives \"certificate is not yet valid\": the time check is not optional.", ""},
    Rule{"workload-foreign-queue", Severity::Info, "a workload that names another scheduler's queue", "That scheduler decides when and where it runs; the label is kept.", ""},
    Rule{"node-not-ready", Severity::Error, "a node whose condition Ready is not True", "No pod runs on it. Unknown where it has no such condition.", "see kubectl describe node, and the kubelet's log"},
    Rule{"node-condition", Severity::Warning, "a condition of the node reports a problem", "Judged by type and status; the words of its message are not read.", "see the condition's reason"},
    Rule{"node-unschedulable", Severity::Warning, "a cordoned node", "No new pod comes to it.", "kubectl uncordon when its maintenance is over"},
    Rule{"node-taint", Severity::Info, "a taint that pods have to tolerate", "Pods without the toleration stay away.", ""},
    Rule{"node-hostname-label", Severity::Info, "the host name label is not the node's name", "Selectors on kubernetes.io/hostname have to use the label's value.", ""},
    Rule{"node-topology-incomplete", Severity::Warning, "a topology label of the vendor's scheme is missing", "Placement by that level leaves the node out.", "label the node, or use a topology without that level"},
    Rule{"node-topology-depth", Severity::Warning, "nodes with different numbers of topology layers", "The same level means different distances on them.", "place by a level that all have"},
    Rule{"node-virtual-machine", Severity::Info, "the node is a virtual machine", "NUMA nodes and PCIe links seen inside may be virtual.", ""},
    Rule{"gpu-shared", Severity::Error, "GPUs that are shared", "Several pods get the same GPU, and the node counts more GPUs than it has.", "use nodes without time-slicing or MPS for training"},
    Rule{"gpu-mig", Severity::Error, "GPUs that are cut into MIG slices", "NCCL and training need whole GPUs.", "nvidia-smi -mig 0 on nodes for training"},
    Rule{"kubelet-skew", Severity::Warning, "a kubelet outside the version skew policy", "More than three minor versions older than the API server, or newer.", "upgrade in the order of the policy"},
    Rule{"shm-free", Severity::Error, "/dev/shm is full", "NCCL and data loaders fail with \"No space left on device\".", "remove stale nccl-* files, or mount a larger memory-backed volume"},
    Rule{"shm-small", Severity::Warning, "/dev/shm has a container's default size", "64 MiB are too little for NCCL and data loaders.", "mount an emptyDir of medium Memory at /dev/shm"},
    Rule{"limits-memlock", Severity::Error, "a small limit of locked memory", "Registering memory with an RDMA device fails. A container with the capability IPC_LOCK passes all the same.", "add IPC_LOCK to the container's capabilities; limits.conf does not apply to containers"},
    Rule{"limits-nofile", Severity::Warning, "a small limit of open files", "Ray opens a file for each connection.", "raise it in the start command: ulimit -n 65536"},
    Rule{"namespace-terminating", Severity::Warning, "refused because the namespace is being deleted", "Nothing new can be made there: trying again is in vain.", "give up what was to be made, and let go of finalizers"},
    Rule{"api-refused", Severity::Error, "the API server refused a request", "Its reason stands in the message.", "see reason and message; 403: the role of the account lacks the verb"},
};

}  // namespace

std::span<const Rule> kubernetes_rules() { return kRules; }

}  // namespace verl::diagnosis
