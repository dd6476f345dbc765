// Builders of placement problems for tests.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "operator/core/placement/placement.h"

namespace verl::core::placement {

struct Rack {
  std::string block{};
  std::string name{};
  int fit{0};
  int unfit{0};
};

// One pool "main" of n nodes; rack i has the subnet 10.0.<i>.0/24, so ranks are grouped by rack.
inline Problem racks(const std::vector<Rack>& racks, std::int32_t n) {
  Problem problem{.levels = {"block", "rack"}};
  Pool pool{.name = "main", .nodes = n};
  for (std::size_t r = 0; r < racks.size(); ++r) {
    for (int i = 0; i < racks[r].fit + racks[r].unfit; ++i) {
      if (i < racks[r].fit) {
        pool.eligible.push_back(static_cast<std::uint32_t>(problem.candidates.size()));
      }
      problem.candidates.push_back({.node = (racks[r].name.empty() || racks[r].name == "same" ? racks[r].block : "") + racks[r].name + "-" + std::to_string(i),
                                    .address = "10.0." + std::to_string(r) + "." + std::to_string(i),
                                    .domains = {racks[r].block, racks[r].name}});
    }
  }
  problem.pools = {pool};
  return problem;
}

struct Shape {
  int nodes{8};
  int blocks{2};
  int racks{4};
  int levels{2};
  int pools{1};
  bool flat{true};      // addresses shuffled over racks
  bool unlabelled{false};
  bool uneven{false};   // pools with different fit nodes
};

inline int roll(std::mt19937_64& random, int least, int most) {  // the standard distributions differ between libraries
  return least + static_cast<int>(random() % static_cast<std::uint64_t>(most - least + 1));
}

inline Problem random_problem(std::mt19937_64& random, const Shape& shape) {
  Problem problem;
  for (int level = 0; level < shape.levels; ++level) {
    problem.levels.push_back("level" + std::to_string(level));
  }
  std::vector<int> hosts(static_cast<std::size_t>(shape.nodes));
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    hosts[i] = static_cast<int>(i) + 1;
  }
  if (shape.flat) {
    for (std::size_t i = hosts.size(); i > 1; --i) {
      std::swap(hosts[i - 1], hosts[static_cast<std::size_t>(roll(random, 0, static_cast<int>(i) - 1))]);
    }
  }
  for (int i = 0; i < shape.nodes; ++i) {
    const int rack = roll(random, 0, shape.racks - 1);
    Candidate candidate{.node = "n" + std::to_string(i)};
    candidate.address = shape.flat ? "10.0.0." + std::to_string(hosts[static_cast<std::size_t>(i)])
                                   : "10.0." + std::to_string(rack) + "." + std::to_string(i);
    std::vector<std::string> path{"b" + std::to_string(rack % shape.blocks), "r" + std::to_string(rack)};
    if (shape.levels == 1) {
      path.erase(path.begin());
    }
    for (std::string& label : path) {
      if (shape.unlabelled && roll(random, 0, 5) == 0) {
        label.clear();
      }
    }
    candidate.domains = path;
    problem.candidates.push_back(candidate);
  }
  for (int p = 0; p < shape.pools; ++p) {
    Pool pool{.name = "pool" + std::to_string(p), .nodes = roll(random, 1, std::max(1, (shape.nodes - 1) / shape.pools))};
    problem.pools.push_back(pool);
  }
  for (std::uint32_t i = 0; i < problem.candidates.size(); ++i) {
    const bool fit = roll(random, 0, 3) > 0;
    for (Pool& pool : problem.pools) {
      if (shape.uneven ? roll(random, 0, 3) > 0 : fit) {
        pool.eligible.push_back(i);
      }
    }
  }
  return problem;
}

}  // namespace verl::core::placement
