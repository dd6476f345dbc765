#include "diagnosis/format.h"

#include <array>

#include "diagnosis/topology/readers.h"

namespace verl::diagnosis {
namespace {

constexpr std::array kFormats{
    Format{.name = "nvidia-smi-topo", .what = "nvidia-smi topo -m, topo -mp", .likeness = topology::matrix_likeness, .read = topology::read_matrix, .stream = nullptr},
    Format{.name = "nvidia-smi", .what = "nvidia-smi, the table", .likeness = topology::nvidia_smi_likeness, .read = topology::read_nvidia_smi, .stream = nullptr},
    Format{.name = "nvidia-smi-list", .what = "nvidia-smi -L", .likeness = topology::nvidia_list_likeness, .read = topology::read_nvidia_list, .stream = nullptr},
    Format{.name = "nvidia-smi-query", .what = "nvidia-smi --query-gpu=... --format=csv, with its header", .likeness = topology::nvidia_query_likeness,
           .read = topology::read_nvidia_query, .stream = nullptr},
    Format{.name = "rocm-smi-topo", .what = "rocm-smi --showtopo, amd-smi topology", .likeness = topology::rocm_likeness, .read = topology::read_rocm, .stream = nullptr},
    Format{.name = "nccl-topology-xml", .what = "NCCL_TOPO_FILE, NCCL_TOPO_DUMP_FILE", .likeness = topology::nccl_topology_likeness,
           .read = topology::read_nccl_topology, .stream = nullptr},
    Format{.name = "nccl-graph-xml", .what = "NCCL_GRAPH_FILE, NCCL_GRAPH_DUMP_FILE", .likeness = topology::nccl_graph_likeness, .read = topology::read_nccl_graph,
           .stream = nullptr},
    Format{.name = "hwloc-xml", .what = "lstopo FILE.xml", .likeness = topology::hwloc_likeness, .read = topology::read_hwloc, .stream = nullptr},
    Format{.name = "lspci", .what = "lspci -vv, as root", .likeness = topology::lspci_likeness, .read = topology::read_lspci, .stream = nullptr},
    Format{.name = "lscpu", .what = "lscpu, lscpu -J", .likeness = topology::lscpu_likeness, .read = topology::read_lscpu, .stream = nullptr},
    Format{.name = "numactl-hardware", .what = "numactl --hardware", .likeness = topology::numactl_likeness, .read = topology::read_numactl, .stream = nullptr},
};

}  // namespace

std::span<const Format> topology_formats() { return kFormats; }

}  // namespace verl::diagnosis
