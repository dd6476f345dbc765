// ReadinessPolicy, verl.run/v1alpha1, cluster-scoped: which nodes it is for and what they must be.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/meta.h"
#include "api/node_readiness.h"
#include "base/units.h"

namespace verl::api {

struct SelectorTerm {
  std::string key{};
  std::string op{};  // In, NotIn, Exists, DoesNotExist
  std::vector<std::string> values{};
  bool operator==(const SelectorTerm&) const = default;
};

struct NodeSelector {
  Labels match_labels{};
  std::vector<SelectorTerm> match_expressions{};
  bool operator==(const NodeSelector&) const = default;
};

struct ReadinessPolicySpec {
  NodeSelector node_selector{};  // empty selects every node that offers GPUs
  std::int32_t priority{0};      // the highest that selects a node wins; a tie is a conflict, never a guess
  Expectations expectations{};
  std::optional<Bytes> memory_per_gpu{};            // default memory of a pod: this times its GPUs
  std::string rdma_resource{};                      // "rdma/hca": asked for once per declared RDMA device; empty: none
  std::vector<std::int32_t> reserved_ports{};       // a port block never contains one of these
  std::vector<std::string> allowed_host_paths{};    // prefixes a pod template may mount
  bool operator==(const ReadinessPolicySpec&) const = default;
};

struct ReadinessPolicy {
  Meta meta{};
  ReadinessPolicySpec spec{};
  std::vector<std::string> unreadable{};
  bool operator==(const ReadinessPolicy&) const = default;
};

}  // namespace verl::api
