// The best n of a set of positions for one ring: fewest domains, fewest edges, least damage, names; with bounds.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "operator/core/placement/fabric.h"
#include "operator/core/placement/racks.h"

namespace verl::core::placement {

struct Choice {
  std::vector<std::uint32_t> positions{};  // ascending
  std::vector<int> counts{};               // domains per level
  std::vector<int> bounds{};
  int edges{0};
  int edges_bound{0};
  Damage damage{};
};

// What racks offer among these positions (ascending), in order of rack number.
std::vector<Offer> offers_of(const Fabric& fabric, const std::vector<std::uint32_t>& positions);

// Distinct domains per level.
std::vector<int> counts_of(const Fabric& fabric, const std::vector<std::uint32_t>& positions);

// The racks of a sequence of positions, for ring_edges.
std::vector<int> leaves_of(const Fabric& fabric, const std::vector<std::uint32_t>& positions);

// Requires 1 ≤ n ≤ positions.size(), positions ascending.
Choice choose(const Fabric& fabric, const std::vector<std::uint32_t>& positions, int n, std::int64_t budget);

// All n in one domain of `level`; nothing when no domain holds n.
std::optional<Choice> choose_within(const Fabric& fabric, const std::vector<std::uint32_t>& positions, int n, int level,
                                    std::int64_t budget);

}  // namespace verl::core::placement
