// The problem as numbers: fit candidates in address order, domains numbered by name, nesting by parent.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "operator/core/placement/placement.h"

namespace verl::core::placement {

struct Domain {
  std::string name{};
  int parent{-1};  // in the level outside; -1 at the outermost
  int total{0};    // candidates in it, fit or not
  bool known{true};
  bool operator==(const Domain&) const = default;
};

// A position is the place of a fit candidate in string order of addresses; all the solver works on positions.
struct Fabric {
  std::vector<std::uint32_t> candidate{};     // per position
  std::vector<std::uint32_t> mask{};          // per position: bit i when fit for pool i
  std::vector<int> leaf{};                    // per position: its domain at the innermost level
  std::vector<std::vector<Domain>> levels{};  // at least one; a single domain when no level is configured
  std::vector<std::vector<int>> above{};      // [level][leaf] → domain of that level
  int depth() const { return static_cast<int>(levels.size()); }
  int leaves() const { return static_cast<int>(levels.back().size()); }
};

Fabric make_fabric(const Problem& problem);

// As shown to people: the value, with its parents' in front where the value alone is ambiguous.
std::string shown_name(const Fabric& fabric, int level, int domain);

}  // namespace verl::core::placement
