// Placement by trying everything: the judge of small instances. Shares no code with the solver.
#pragma once

#include <optional>
#include <vector>

#include "operator/core/placement/placement.h"

namespace verl::core::placement {

struct Best {
  std::vector<int> domains{};  // per level
  int edges{0};                // innermost level
  int left_over{0};            // judged for one pool only
  int free_racks{0};
  auto operator<=>(const Best&) const = default;
};

std::optional<Best> best_by_force(const Problem& problem);

// The same measures of an answer, with every rule checked; nothing when it breaks one.
std::optional<Best> measured(const Problem& problem, const Solution& solution);

}  // namespace verl::core::placement
