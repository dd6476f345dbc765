#include <array>

#include "diagnosis/rule.h"

namespace verl::diagnosis {
namespace {

// Ids that a check of the node agent has too mean the same condition here.
constexpr std::array kRules{
    Rule{.id = "numa-topology", .severity = Severity::Warning, .title = "NUMA nodes are missing, or GPUs have no near NIC",
         .why = "Traffic between a GPU and a NIC of the other socket crosses the link between the sockets, which halves the rate or worse. Fewer NUMA nodes than the "
                "policy asks for is an error.",
         .remedy = "check the firmware's NUMA settings and the slots of the NICs, and use node types with a NIC near each GPU"},
    Rule{.id = "gpu-nic-cross-socket", .severity = Severity::Warning, .title = "some GPUs reach every NIC only across the sockets",
         .why = "Those GPUs are slower between nodes than the others, and the slowest decides.",
         .remedy = "prefer the GPUs with a near NIC, or add NICs to the other socket"},
    Rule{.id = "numa-no-locality", .severity = Severity::Warning, .title = "the machine does not say which NUMA node a GPU is on",
         .why = "Pinning would be a guess and the nearest NIC cannot be told: typical of a VM without a passed-through topology.",
         .remedy = "do not pin; ask the provider for a machine type that shows its topology, or give NCCL the vendor's topology file"},
    Rule{.id = "numa-single-node", .severity = Severity::Warning, .title = "a machine of the two-socket class shows one NUMA node",
         .why = "Node interleaving or a virtual machine hides the second socket, so NUMA pinning cannot be verified and memory lies on both sockets.",
         .remedy = "switch node interleaving off in the firmware (NUMA on), or accept that pinning has no effect"},
    Rule{.id = "numa-empty-cpuset", .severity = Severity::Warning, .title = "a GPU's NUMA node has no CPU that this container may use",
         .why = "The worker of that GPU runs on the other socket whatever it asks for.",
         .remedy = "give the pod CPUs of each NUMA node its GPUs are on (whole-node CPUs, or a topology manager policy)"},
    Rule{.id = "numa-memory-only-node", .severity = Severity::Warning, .title = "a GPU is given a NUMA node without CPUs",
         .why = "Binding to that node gives an empty CPU set and fails.",
         .remedy = "bind to the node that holds the GPU's CPU affinity"},
    Rule{.id = "cpu-list-truncated", .severity = Severity::Warning, .title = "a CPU list that the tool cut",
         .why = "Pinning to it would leave most CPUs of the node unused.",
         .remedy = "take the CPUs of the NUMA node from sysfs or lscpu"},
    Rule{.id = "cpu-list-unusable", .severity = Severity::Warning, .title = "a CPU list that cannot be meant",
         .why = "Pinned to it, a worker would have one CPU or none.",
         .remedy = "do not pin by it; take the CPUs of the NUMA node from sysfs or lscpu"},
    Rule{.id = "pcie-acs", .severity = Severity::Error, .title = "Access Control Services redirect peer traffic of PCIe bridges",
         .why = "Transfers between GPUs, and between GPU and NIC, go through the root complex or hang. Source validation alone is a warning; in a virtual machine "
                "the rule does not apply.",
         .remedy = "switch ACS off in the firmware, or clear the ACS control of the named bridges with setpci at each boot (nothing here ever does it)"},
    Rule{.id = "pcie-acs-unreadable", .severity = Severity::Unknown, .title = "capabilities of PCIe bridges could not be read",
         .why = "Whether ACS redirects peer traffic cannot be told.",
         .remedy = "run lspci -vv as root"},
    Rule{.id = "gpu-pcie-link", .severity = Severity::Error, .title = "a PCIe link of a GPU or NIC runs below what the card can",
         .why = "Copies between host and GPU, and RDMA, are slower in the same proportion. An idle GPU lowers its speed on its own: then it is only information, "
                "and a warning where the load is not known.",
         .remedy = "reseat the card, check riser and slot; look again under load when only the speed is lower"},
    Rule{.id = "gpu-nvlink", .severity = Severity::Error, .title = "a GPU has fewer NVLinks than the others",
         .why = "Links of that GPU are down: collectives run at the rate of the slowest GPU or leave NVLink.",
         .remedy = "look at nvidia-smi nvlink -s and the fabric manager; reset the GPU or have the board replaced"},
    Rule{.id = "gpu-nvlink-groups", .severity = Severity::Warning, .title = "NVLink joins only some of the GPUs",
         .why = "A tensor-parallel group across GPUs without a direct link is several times slower.",
         .remedy = "order CUDA_VISIBLE_DEVICES so that the GPUs of a group are the linked ones"},
    Rule{.id = "gpu-mig-mode", .severity = Severity::Warning, .title = "a GPU with MIG enabled",
         .why = "It is no whole GPU for a job, and its slices have no peer access to others: tensor parallelism over them does not work.",
         .remedy = "disable MIG (nvidia-smi -mig 0) where whole GPUs are wanted"},
    Rule{.id = "gpu-count", .severity = Severity::Error, .title = "fewer whole GPUs than the node is to have",
         .why = "A worker that asks for them all cannot run here.",
         .remedy = "look for GPUs that fell off the bus (kernel log, Xid 79) and for MIG"},
    Rule{.id = "gpu-lost", .severity = Severity::Error, .title = "the driver cannot talk to a GPU",
         .why = "Work on that GPU fails or hangs.",
         .remedy = "look for Xid messages in the kernel log; reset the GPU or reboot the node"},
    Rule{.id = "nccl-topo-file", .severity = Severity::Error, .title = "an NCCL topology file that is not of this machine",
         .why = "NCCL believes the file: wrong distances give wrong rings and slow transport. Some bus ids missing is a warning.",
         .remedy = "use the file of this machine type, or unset NCCL_TOPO_FILE and let NCCL look"},
    Rule{.id = "nccl-graph-file", .severity = Severity::Warning, .title = "an NCCL graph file where a topology is expected",
         .why = "Its root element is graphs: it holds rings and trees of one job, no GPUs' and NICs' places.",
         .remedy = "give NCCL_TOPO_FILE a file whose root element is system; leave NCCL_GRAPH_FILE unset in production"},
    Rule{.id = "topology-xml-node-limit", .severity = Severity::Warning, .title = "more NICs than NCCL's topology XML holds",
         .why = "From 32 NICs on, joining the views of a node's ranks can pass a fixed limit of 256 XML nodes and communicators fail to start (NVIDIA/nccl#2160).",
         .remedy = "hide NICs that the job does not need from the container, or use a NCCL with the limit lifted"},
    Rule{.id = "topology-row-damaged", .severity = Severity::Warning, .title = "rows of a topology matrix with cells written over each other",
         .why = "What the other half of the matrix does not say is left unknown.",
         .remedy = "take the output anew, written to a file and not through a terminal"},
    Rule{.id = "topology-differs", .severity = Severity::Warning, .title = "nodes of one set with different GPUs or NICs",
         .why = "The weakest node decides the rate, and one placement of ranks does not fit all.",
         .remedy = "use nodes of one type in a job"},
    Rule{.id = "driver-version", .severity = Severity::Warning, .title = "nodes of one set with different GPU drivers",
         .why = "NCCL and CUDA features depend on the driver; mixed versions make faults hard to tell.",
         .remedy = "install the same driver everywhere"},
    Rule{.id = "nic-names-unknown", .severity = Severity::Info, .title = "NICs without their device names",
         .why = "They cannot be matched with RDMA devices.", .remedy = "take the output with its NIC legend"},
    Rule{.id = "rails-suggested", .severity = Severity::Info, .title = "the RDMA devices near the GPUs",
         .why = "These carry the GPUs' traffic: set NCCL_IB_HCA to exactly them.", .remedy = ""},
};

}  // namespace

std::span<const Rule> topology_rules() { return kRules; }

}  // namespace verl::diagnosis
