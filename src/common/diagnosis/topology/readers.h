// The readers of this family, one pair a format: how likely the text is of it, and what it says. Each fills topology facts,
// values and findings about the document; what follows for the node is judged in judge.cpp.
#pragma once

#include <string_view>

#include "base/result.h"
#include "diagnosis/format.h"

namespace verl::topology {

// More GPUs and NICs than that in one document are no machine; the rest is left unread.
constexpr std::size_t kMostDevices = 256;

using diagnosis::Reading;
using diagnosis::ReadOptions;

int matrix_likeness(std::string_view head);  // nvidia-smi topo -m, -mp
Result<Reading> read_matrix(std::string_view text, const ReadOptions& options);

int nvidia_smi_likeness(std::string_view head);  // the table
Result<Reading> read_nvidia_smi(std::string_view text, const ReadOptions& options);

int nvidia_list_likeness(std::string_view head);  // -L
Result<Reading> read_nvidia_list(std::string_view text, const ReadOptions& options);

int nvidia_query_likeness(std::string_view head);  // --query-gpu --format=csv
Result<Reading> read_nvidia_query(std::string_view text, const ReadOptions& options);

int rocm_likeness(std::string_view head);  // rocm-smi --showtopo, amd-smi topology
Result<Reading> read_rocm(std::string_view text, const ReadOptions& options);

int nccl_topology_likeness(std::string_view head);
Result<Reading> read_nccl_topology(std::string_view text, const ReadOptions& options);

int nccl_graph_likeness(std::string_view head);
Result<Reading> read_nccl_graph(std::string_view text, const ReadOptions& options);

int hwloc_likeness(std::string_view head);  // lstopo XML, hwloc 1, 2 and 3
Result<Reading> read_hwloc(std::string_view text, const ReadOptions& options);

int lspci_likeness(std::string_view head);
Result<Reading> read_lspci(std::string_view text, const ReadOptions& options);

int lscpu_likeness(std::string_view head);  // text and -J
Result<Reading> read_lscpu(std::string_view text, const ReadOptions& options);

int numactl_likeness(std::string_view head);
Result<Reading> read_numactl(std::string_view text, const ReadOptions& options);

// document-incomplete with what is missing; the facts are marked too.
void mark_incomplete(Reading& reading, const ReadOptions& options, std::string subject, std::string missing);

}  // namespace verl::topology
