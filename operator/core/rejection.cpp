#include "operator/core/rejection.h"

#include <algorithm>

namespace verl::core {
namespace {

constexpr Seconds kFirst{60};
constexpr Seconds kLongest{1800};

Seconds left_out_for(std::int32_t times) {
  Seconds wait = kFirst;
  for (std::int32_t i = 1; i < times && wait < kLongest; ++i) wait *= 2;
  return std::min(wait, kLongest);
}

}  // namespace

std::vector<api::RejectedNode> still_rejected(std::vector<api::RejectedNode> nodes, Timestamp now) {
  std::erase_if(nodes, [&](const api::RejectedNode& node) { return node.until + kLongest < now; });
  return nodes;
}

std::vector<api::RejectedNode> reject(std::vector<api::RejectedNode> nodes, const std::vector<NodeFault>& faults, Timestamp now) {
  for (const NodeFault& fault : faults) {
    const auto found = std::find_if(nodes.begin(), nodes.end(), [&](const api::RejectedNode& n) { return n.node == fault.node; });
    if (found == nodes.end()) {
      nodes.push_back({.node = fault.node, .reason = fault.reason, .times = 1, .until = now + left_out_for(1)});
    } else if (found->until <= now || found->reason != fault.reason) {
      ++found->times;
      found->reason = fault.reason;
      found->until = now + left_out_for(found->times);
    }
  }
  if (nodes.size() > kMaxRejectedNodes) {
    std::sort(nodes.begin(), nodes.end(), [](const auto& a, const auto& b) { return a.until != b.until ? a.until > b.until : a.node < b.node; });
    nodes.resize(kMaxRejectedNodes);
  }
  std::sort(nodes.begin(), nodes.end(), [](const auto& a, const auto& b) { return a.node < b.node; });
  return nodes;
}

}  // namespace verl::core
