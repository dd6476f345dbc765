// Required topologies: which pools they bind together, and every way to give each of these groups one domain.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "operator/core/placement/fabric.h"
#include "operator/core/placement/flow.h"

namespace verl::core::placement {

struct Group {
  std::vector<std::size_t> pools{};
  std::size_t level{0};
  int wanted{0};
  std::uint32_t bits{0};
};

// Groups with a Required topology and at least one node wanted: the job's, then pools with their own, in their order.
std::vector<Group> required_groups(const Problem& problem);

std::vector<int> wants_of(const Problem& problem);

// How many positions there are of each mask.
Classes classes_of(const std::vector<std::uint32_t>& masks);

// What each domain of the group's level could serve of the group alone, per domain.
std::vector<int> served_by_domain(const Fabric& fabric, const Group& group, const std::vector<int>& wants);

struct Walk {
  bool complete{true};  // false: stopped at the limit, or because the visitor had enough
  bool found{false};
};

// Calls `visit` with the masks per position of every assignment of groups to domains under which all pools can be
// served, tightest domains first, up to `limit` assignments looked at.
Walk for_each_assignment(const Fabric& fabric, const std::vector<Group>& groups, const std::vector<int>& wants, int limit,
                         const std::function<bool(const std::vector<std::uint32_t>&)>& visit);

}  // namespace verl::core::placement
