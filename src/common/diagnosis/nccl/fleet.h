// Nodes of one job against each other: NCCL401 to NCCL419. Only what NCCL cannot live with is an error; names of interfaces,
// devices, indexes and files are compared by what they lead to, never as text. Each deviation is one finding that names its nodes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "diagnosis/judge.h"
#include "diagnosis/nccl/agreement.h"
#include "diagnosis/nccl/situation.h"

namespace verl::nccl {

// A node under the environment by which it is compared.
struct FleetNode {
  std::string name{};
  Situation situation{};
  bool lives_in_environment{false};  // one is known; else all is as if nothing were set
};

// Nodes whose ranks form a communicator: those with an environment of the group, and those of which none is known.
struct FleetGroup {
  std::string name{};
  std::vector<FleetNode> nodes{};
};

void compare_fleet(const diagnosis::Fleet& fleet, const diagnosis::Policy& policy, diagnosis::Findings& out);

void compare_settings(const FleetGroup& group, diagnosis::Findings& out);   // fleet_settings.cpp: NCCL401 to NCCL403, NCCL406, NCCL408, NCCL416
void compare_rails(const FleetGroup& group, diagnosis::Findings& out);      // fleet_rails.cpp: NCCL409 to NCCL413, NCCL419
void compare_bootstrap(const FleetGroup& group, diagnosis::Findings& out);  // fleet_nodes.cpp: NCCL414
void compare_software(const diagnosis::Fleet& fleet, diagnosis::Findings& out);  // fleet_nodes.cpp: NCCL405, NCCL415, NCCL417, NCCL418

// The findings about one variable of ranks: NCCL401, NCCL402, NCCL403 or NCCL404 by what has to agree. inside_node: all are of one node.
void judge_differences(const std::vector<Member>& members, bool inside_node, diagnosis::Findings& out);

// Ranks of one node: NCCL404, NCCL406, NCCL407, and NCCL401 to NCCL403 among them. The findings leave `nodes` empty.
void judge_ranks(const diagnosis::NodeFacts& node, const diagnosis::Policy& policy, diagnosis::Findings& out);

}  // namespace verl::nccl
