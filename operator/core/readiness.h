// Decides whether a node may take a job: which policy is for it, whether its report can be believed, what the report says.
// Fitting a pod onto the node (resources, ports, taints) is decided in fit/, not here.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "operator/core/model.h"

namespace verl::core {

enum class NodeWord { Ready, NotReady, Unknown };

// What stands in the VERDICT and REASON columns, and why.
struct NodeVerdict {
  NodeWord word{NodeWord::Unknown};
  std::string reason{};   // "Ready", "MTUInterface", "AgentSilent", "ReportOutdated", "NoPolicy", …
  std::string message{};  // value seen, value wanted, remedy; no relative times, so that it does not change by itself
  std::vector<Finding> blocking{};  // the findings that decided, worst first
  bool operator==(const NodeVerdict&) const = default;
};

std::string_view to_string(NodeWord word);

// The policy for a node: exactly one of `policy` and `problem` is set.
struct PolicyChoice {
  const api::ReadinessPolicy* policy{nullptr};
  std::string problem{};  // "NoPolicy" or "PolicyConflict"
  std::string message{};
};

// GPUs that the node offers, whole ones.
std::int64_t gpus_of(const api::Node& node, std::string_view gpu_resource);

// What a pod's memory is reckoned with before it is known which policy its node will have.
Bytes largest_memory_per_gpu(const ClusterSnapshot& snapshot);

bool selects(const api::NodeSelector& selector, const api::Labels& labels);

// Highest priority among those that select the node; a tie is a conflict, never a guess. An empty selector means every
// node that offers GPUs.
PolicyChoice choose_policy(const std::vector<Shared<api::ReadinessPolicy>>& policies, const api::Node& node,
                           std::string_view gpu_resource);

// "mtu-interface" → "MTUInterface": the reason word of a check.
std::string reason_word(std::string_view check);

// Severity as the policy has it: what the agent called Fail counts as Warn where the policy only warns.
Verdict effective_verdict(const Finding& finding, const api::Expectations& expectations);

// Why a report cannot be believed, whatever it says: about another machine, boot or policy, or from an agent that has fallen
// silent. Nothing: it can.
std::optional<NodeVerdict> disbelieved(const ClusterSnapshot& snapshot, const api::Node& node, const api::NodeReadiness& report,
                                       const api::ReadinessPolicy& policy);

// "Does not apply here" answers a check too, as long as it says why: InfiniBand ports have no RoCE MTU.
bool is_answer(const Finding& finding);

// The checks that a report must answer under these expectations, which the views may point into: all that block.
std::vector<std::string_view> required_checks(const api::Expectations& expectations);

// One verdict for one node. `fleet` are findings about the node that only a comparison with others can make.
NodeVerdict judge_node(const ClusterSnapshot& snapshot, const api::Node& node, const api::NodeReadiness* report,
                       const std::vector<Finding>& fleet);

// All nodes at once, fleet comparison included; keyed by node name. Nodes that no policy selects and that offer no GPUs
// are left out.
std::map<std::string, NodeVerdict, std::less<>> judge_nodes(const ClusterSnapshot& snapshot);

}  // namespace verl::core
