// Several pools at once: which racks hold them all, and which node serves which pool.
#pragma once

#include <cstdint>
#include <vector>

#include "operator/core/placement/choose.h"
#include "operator/core/placement/flow.h"

namespace verl::core::placement {

struct GangBounds {
  std::vector<int> counts{};  // domains per level, over the whole job
  std::vector<int> edges{};   // per level, summed over the pools' rings
};

struct GangChoice {
  std::vector<std::vector<std::uint32_t>> of_pool{};  // ascending positions
  std::vector<int> counts{};
  int edges{0};
  Damage damage{};
  GangBounds bounds{};
};

// Positions of [0, masks.size()) may serve the pools in their mask. No answer does better than these.
GangBounds gang_bounds(const Fabric& fabric, const std::vector<std::uint32_t>& masks, const std::vector<int>& wants);

// Requires that all wants can be served (starved(...) == 0). Exact for small instances, see placement.h.
GangChoice choose_gang(const Fabric& fabric, const std::vector<std::uint32_t>& masks, const std::vector<int>& wants,
                       std::int64_t budget);

}  // namespace verl::core::placement
