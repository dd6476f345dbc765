// Decides where a gang goes: which nodes may take which pool and why the others may not, then the placement, the port block
// and the sentence a waiting job shows. All pods get a node or none does.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "operator/core/fit/fit.h"
#include "operator/core/ledger.h"
#include "operator/core/model.h"
#include "operator/core/pod.h"
#include "operator/core/readiness.h"

namespace verl::core {

using Verdicts = std::map<std::string, NodeVerdict, std::less<>>;

// Why a node is not among the choices, in the words of `explain`.
struct LeftOut {
  std::string node{};
  std::string domain{};  // at the level that is reported
  std::string reason{};
  std::string message{};
  bool mendable{false};  // unfit by its report: mending the node would make it a choice
  bool operator==(const LeftOut&) const = default;
};

struct GangDecision {
  std::optional<api::Placement> placement{};
  std::string reason{};   // "Placed", "ShortOfNodesInRack", "ShortOfNodes", "MemoryUnknown", "NoPortBlock", …
  std::string message{};
  std::vector<LeftOut> left_out{};  // sorted by node
  std::vector<std::string> eligible{};
  std::string smallest_change{};    // "n21 MTUInterface or n24 AgentSilent"; empty when none is known
  std::optional<Timestamp> next_change{};  // when a rejected node may be tried again
  bool operator==(const GangDecision&) const = default;
};

GangDecision decide_gang(const ClusterSnapshot& snapshot, const Ledger& ledger, const Verdicts& verdicts, const api::VerlJob& job);

// The pod sizes and effective requests of every rank of a placement, as its pods will ask for them now.
struct RankNeeds {
  RankInput input{};
  fit::PodNeeds needs{};
};
std::vector<RankNeeds> rank_needs(const ClusterSnapshot& snapshot, const Ledger& ledger, const api::VerlJob& job,
                                  const api::Placement& placement);

// Whether a placement that is written down may still get its pods: every node the same machine and boot, fit, and with
// room beside everybody else. The sentence says what is not; empty means it may.
std::string placement_problem(const ClusterSnapshot& snapshot, const Ledger& others, const Verdicts& verdicts, const api::VerlJob& job);

}  // namespace verl::core
