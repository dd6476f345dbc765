// How many wanted nodes several pools can be served at once, when nodes differ in which pools they are fit for.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace verl::core::placement {

// Nodes by the set of pools they may serve (bit i: pool i). Nodes that serve none are left out.
using Classes = std::map<std::uint32_t, int>;

struct Served {
  int total{0};
  std::vector<std::map<std::uint32_t, int>> from{};  // per pool: nodes taken of each class
};

// Exact (maximum flow). `wants` has one entry per pool.
Served serve(const Classes& classes, const std::vector<int>& wants);

// A set of pools that want more together than there are nodes for them, as bits; 0 when all can be served. Minimal in
// the sense that it is what the maximum flow leaves short.
std::uint32_t starved(const Classes& classes, const std::vector<int>& wants);

}  // namespace verl::core::placement
