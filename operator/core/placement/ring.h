// Neighbours in a ring that lie in different domains, and the fewest of them under a fixed order.
#pragma once

#include <cstdint>
#include <vector>

namespace verl::core::placement {

// Places i where domain[i] differs from its successor, the last one's successor being the first.
int ring_edges(const std::vector<int>& domain);

struct RingChoice {
  int edges{0};
  std::vector<std::uint32_t> taken{};  // indices into the sequence, ascending; `count` of them
};

// What fewest_ring_edges would cost in elementary steps.
std::int64_t ring_cost(std::int64_t length, std::int64_t count, std::int64_t domains);

// Takes `count` (≥ 1, ≤ length) elements of `domain`, whose values lie in [0, domains), in the given order, with the
// fewest ring edges. Exact. Stops early at `good_enough`. Ties go to earlier elements.
RingChoice fewest_ring_edges(const std::vector<int>& domain, int count, int domains, int good_enough);

// The number alone, which needs less memory.
int least_ring_edges(const std::vector<int>& domain, int count, int domains, int good_enough);

}  // namespace verl::core::placement
