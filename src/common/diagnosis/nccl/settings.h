// Which NCCL, Gloo and neighbouring settings must be equal on all nodes of a job, and which may not be compared.
#pragma once

#include <string_view>

namespace verl::nccl {

enum class Match {
  Equal,      // ranks decide with it on their own: different values hang, corrupt or refuse to connect
  Uniform,    // different values work, unevenly
  PerNode,    // names what one node has (interfaces, devices, indexes, files): values differ rightly
  Local,      // concerns one process
  Distinct,   // must differ between nodes
  Ineffective,  // no NCCL reads it
  Unlisted,   // not in the table
};

// Source of the rules: NCCL 2.3 to 2.30.7, one decision per variable read in its source; PyTorch and the net plugins.
Match match_of(std::string_view name);

// NCCL_, GLOO_, TORCH_NCCL_, UCX_, FI_, OFI_NCCL_ and the few others that decide how ranks talk.
bool concerns_communication(std::string_view name);

std::string_view to_string(Match match);

}  // namespace verl::nccl
