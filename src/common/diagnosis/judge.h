// The rules that need facts of a whole node, or of several nodes at once. One pair a family; all are pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "diagnosis/facts.h"
#include "diagnosis/finding.h"
#include "diagnosis/policy.h"

namespace verl::diagnosis {

using Fleet = std::map<std::string, NodeFacts>;  // by node name
using Findings = std::vector<Finding>;

// One node. Findings leave `nodes` empty: the caller knows the node.
void judge_nccl(const NodeFacts& node, const Policy& policy, Findings& out);
void judge_log(const NodeFacts& node, const Policy& policy, Findings& out);
void judge_topology(const NodeFacts& node, const Policy& policy, Findings& out);
void judge_time(const NodeFacts& node, const Policy& policy, Findings& out);
void judge_fabric(const NodeFacts& node, const Policy& policy, Findings& out);
void judge_benchmark(const NodeFacts& node, const Policy& policy, Findings& out);
void judge_kubernetes(const NodeFacts& node, const Policy& policy, Findings& out);

// Nodes against each other; called with two or more. Findings name their nodes.
void compare_nccl(const Fleet& fleet, const Policy& policy, Findings& out);
void compare_log(const Fleet& fleet, const Policy& policy, Findings& out);
void compare_topology(const Fleet& fleet, const Policy& policy, Findings& out);
void compare_time(const Fleet& fleet, const Policy& policy, Findings& out);
void compare_fabric(const Fleet& fleet, const Policy& policy, Findings& out);
void compare_benchmark(const Fleet& fleet, const Policy& policy, Findings& out);
void compare_kubernetes(const Fleet& fleet, const Policy& policy, Findings& out);

}  // namespace verl::diagnosis
