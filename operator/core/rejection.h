// Remembers nodes that did not take a pod: without it the same snapshot would give the same plan for ever.
#pragma once

#include <vector>

#include "operator/core/attempt.h"

namespace verl::core {

constexpr size_t kMaxRejectedNodes = 64;

// Entries whose time has run out more than half an hour ago are forgotten, the others keep their count.
std::vector<api::RejectedNode> still_rejected(std::vector<api::RejectedNode> nodes, Timestamp now);

// Adds faults: a node is left out for one minute, doubling each time up to 30 minutes. Sorted by node; when there are too
// many, those that end first go.
std::vector<api::RejectedNode> reject(std::vector<api::RejectedNode> nodes, const std::vector<NodeFault>& faults, Timestamp now);

}  // namespace verl::core
