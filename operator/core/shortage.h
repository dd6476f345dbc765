// The sentence of a job that waits for nodes: what it needs, what the best domain has, what keeps the others out, and the
// smallest change that would admit it.
#pragma once

#include <string>
#include <vector>

#include "operator/core/gang.h"
#include "operator/core/placement/placement.h"

namespace verl::core {

// Fills reason, message and smallest change of a decision whose left-out nodes are known. `nodes` is how many were looked at.
void explain_shortage(const placement::Shortage& shortage, const std::vector<std::string>& level_names, size_t nodes, GangDecision& decision);

}  // namespace verl::core
