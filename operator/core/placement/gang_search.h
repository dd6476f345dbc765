// Exhaustive search over small instances of several pools: every fit node to one of its pools or to none.
#pragma once

#include <cstdint>
#include <vector>

#include "operator/core/placement/gang.h"

namespace verl::core::placement {

// Improves `best` (counts, then edges) and, when the search ends within `steps`, closes its bounds: counts, and the
// edges of the innermost level.
void search_small_gang(const Fabric& fabric, const std::vector<std::uint32_t>& masks, const std::vector<int>& wants,
                       std::int64_t steps, GangChoice& best);

}  // namespace verl::core::placement
