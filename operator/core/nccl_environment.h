// NCCL and Gloo settings of one pod, resolved for its node from what the node's agent reported.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/node_readiness.h"
#include "api/verl_job.h"

namespace verl::core {

// The interface that carries Ray, Gloo and NCCL's bootstrap on this node: the one marked control in the report.
// Empty when the report names none.
std::string control_interface(const api::NodeReadiness& report);

// Active RDMA ports that NCCL should use, as "device:port", in name order; those of the wanted transport only.
std::vector<std::string> rdma_ports(const api::NodeReadiness& report, api::Transport transport);

// Variables for container `ray` (and `driver` on the head). The user's nccl.env wins over what is resolved here.
// NCCL_IB_GID_INDEX is never set: from NCCL 2.21 on the right GID is found by itself, a fixed index is a frequent fault.
std::map<std::string, std::string> nccl_environment(const api::VerlJobSpec& spec, const api::NodeReadiness& report);

// Names that nccl.env may not hold, one sentence each.
std::vector<std::string> nccl_env_problems(const std::map<std::string, std::string>& nccl_env);

}  // namespace verl::core
