// Which racks: the fewest domains level by level, and among rack sets that reach them the one that does least damage.
// Knows only how many fit nodes each rack offers; order and edges are choose.h's.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "operator/core/placement/fabric.h"

namespace verl::core::placement {

struct Offer {  // what one rack has for this group
  int leaf{0};
  int fit{0};
  bool wholly_free{false};
};

struct Fewest {
  std::vector<int> counts{};  // domains per level
  std::vector<int> bounds{};  // lower bound per level, given that the levels outside are at their counts
  std::vector<int> racks{};   // indices into the offers: one set that reaches the counts
};

// Some offers (indices) by their domain of `level`, in order of domain number.
std::vector<std::vector<int>> grouped_by_domain(const Fabric& fabric, const std::vector<Offer>& offers,
                                                const std::vector<int>& racks, int level);

// Fit nodes in these offers together.
int fit_of(const std::vector<Offer>& offers, const std::vector<int>& racks);

// Least number of the values, largest first, whose sum is at least n; -1 when all together are less.
int fewest_to_reach(std::vector<int> values, int n);

// Requires that the offers together hold n ≥ 1.
Fewest fewest_domains(const Fabric& fabric, const std::vector<Offer>& offers, int n);

struct Damage {
  int left_over{0};
  int free_racks{0};
  auto operator<=>(const Damage&) const = default;
};
Damage damage_of(const std::vector<Offer>& offers, const std::vector<int>& racks, int n);

// Exactly k of the offers holding at least n with the least damage; ties to the earlier offers. Empty when no k of them
// hold n. Exact while the table stays small (`steps`), else largest first with the tightest last.
std::vector<int> least_damage(const std::vector<Offer>& offers, int k, int n, std::int64_t steps);

// Calls `visit` with each set of racks (indices, ascending by size order) that has the wanted number of domains at every
// level up to and including `level` and can hold n; `level` tells what is enumerated: domains of that level.
// Returns false when it stopped at `steps` or because `visit` said false.
bool for_each_set(const Fabric& fabric, const std::vector<Offer>& offers, const std::vector<int>& counts, int level,
                  int n, std::int64_t steps, const std::function<bool(const std::vector<int>&)>& visit);

}  // namespace verl::core::placement
