// What a pool's pod asks of a node: its size there, which the node and its policy decide, and what is the same everywhere.
// Whether a node has it is decided in fit/.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "operator/core/fit/fit.h"
#include "operator/core/model.h"
#include "operator/core/pod.h"

namespace verl::core {

// What is the same for every node of the cluster, read once per pool.
struct PoolFacts {
  const api::Pool* pool{nullptr};
  PodSize nominal{};
  api::Resources extra{};
  std::vector<api::Toleration> tolerations{};
  api::Labels selector{};
  std::vector<api::HostPort> ports{};
  bool host_paths{false};
};

PoolFacts facts_of(const ClusterSnapshot& snapshot, const api::VerlJob& job, const api::Pool& pool);

struct SizeOrProblem {
  PodSize size{};
  std::string problem{};  // a reason word; empty: none
  std::string message{};
};

// One pod a host. A pod that takes all GPUs of a node takes all CPUs that others leave, in whole cores; one that takes a
// part of them takes the same part of the CPUs and, rounded up, of the RDMA devices.
SizeOrProblem pod_size(const Config& config, const PoolFacts& facts, const api::ReadinessPolicy& policy, const api::Node& node, const fit::NodeUse& use);

// `port_base` 0: not chosen yet.
fit::PodNeeds needs_of(const Config& config, const PoolFacts& facts, const PodSize& size, std::int32_t port_base);

}  // namespace verl::core
