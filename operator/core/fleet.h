// Decides what only a comparison of nodes can show: settings that must be equal and are not.
// The comparison runs over the nodes of one policy, since nodes of different kinds may well differ.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/finding.h"
#include "operator/core/model.h"

namespace verl::core {

// Findings by node name; a node that agrees with the others has none. Only reports that can be believed take part, so that a
// dead node cannot outvote living ones.
std::map<std::string, std::vector<Finding>, std::less<>> compare_fleet(const ClusterSnapshot& snapshot);

}  // namespace verl::core
