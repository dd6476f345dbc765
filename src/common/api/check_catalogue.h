// Every check there is: its id, where a report shows it, and whether it keeps jobs off a node unless a policy says otherwise.
// One table for the agent that judges, the operator that admits and the reports that people read.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "api/node_readiness.h"

namespace verl::api {

struct CheckEntry {
  std::string_view id{};
  std::string_view group{};  // section of a report: network, rdma, time, nccl, gpu, host
  std::string_view title{};  // what is true when it passes
  CheckAction action{CheckAction::Block};
};

// Ids are never renamed or reused. Each has a section in docs/checks.md.
inline constexpr std::array kChecks{
    CheckEntry{"link-state", "network", "fabric and control interfaces are up", CheckAction::Block},
    CheckEntry{"mtu-interface", "network", "MTU of fabric interfaces", CheckAction::Block},
    CheckEntry{"link-speed", "network", "speed of fabric interfaces", CheckAction::Block},
    CheckEntry{"packet-drops", "network", "no packets lost since the last look", CheckAction::Warn},
    CheckEntry{"port-range", "network", "job ports are kept out of the ephemeral range", CheckAction::Warn},
    CheckEntry{"rdma-device-count", "rdma", "RDMA devices are all there", CheckAction::Block},
    CheckEntry{"rdma-port-state", "rdma", "RDMA ports are active", CheckAction::Block},
    CheckEntry{"rdma-port-rate", "rdma", "rate of RDMA ports", CheckAction::Block},
    CheckEntry{"mtu-roce-active", "rdma", "active MTU of RoCE ports", CheckAction::Block},
    CheckEntry{"roce-gid", "rdma", "RoCE ports have a routable address", CheckAction::Block},
    CheckEntry{"clock-sync", "time", "the clock follows a time source", CheckAction::Block},
    CheckEntry{"clock-error", "time", "the clock's error is bounded", CheckAction::Block},
    CheckEntry{"nccl-env", "nccl", "NCCL settings of the host", CheckAction::Block},
    CheckEntry{"gpu-count", "gpu", "GPUs are all there", CheckAction::Block},
    CheckEntry{"numa-topology", "host", "NUMA nodes are all there, each GPU near an RDMA device", CheckAction::Block},
};

static_assert(kChecks.size() <= 32, "NodeReadinessStatus::answered has a bit for each");

inline const CheckEntry* find_check(std::string_view id) {
  const auto found = std::find_if(kChecks.begin(), kChecks.end(), [&](const CheckEntry& entry) { return entry.id == id; });
  return found == kChecks.end() ? nullptr : &*found;
}

// The bit of a check in NodeReadinessStatus::answered; none for a check that is not in the catalogue.
inline std::uint32_t answered_bit(std::string_view id) {
  const CheckEntry* entry = find_check(id);
  return entry == nullptr ? 0 : std::uint32_t{1} << (entry - kChecks.data());
}

// What the policy says of a check, or else its default. A check that nobody knows blocks: it was made for a reason.
inline CheckAction action_of(std::string_view id, const Expectations& expectations) {
  const auto rule = std::find_if(expectations.checks.begin(), expectations.checks.end(), [&](const CheckRule& one) { return one.id == id; });
  if (rule != expectations.checks.end()) return rule->action;
  const CheckEntry* entry = find_check(id);
  return entry == nullptr ? CheckAction::Block : entry->action;
}

// Whether this finding keeps jobs off the node: it failed, or nobody could tell, and the check is one that blocks.
inline bool blocks(const Finding& finding, const Expectations& expectations) {
  return (finding.verdict == Verdict::Fail || finding.verdict == Verdict::Unknown) &&
         action_of(finding.check, expectations) == CheckAction::Block;
}

}  // namespace verl::api
