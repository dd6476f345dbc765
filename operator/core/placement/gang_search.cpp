#include "operator/core/placement/gang_search.h"

#include <algorithm>

#include "operator/core/placement/ring.h"

namespace verl::core::placement {
namespace {

constexpr std::size_t kMostPositions = 40;  // beyond that the walk could not end anyway

std::size_t at(int i) { return static_cast<std::size_t>(i); }

class Search {
 public:
  Search(const Fabric& fabric, const std::vector<std::uint32_t>& masks, const std::vector<int>& wants, std::int64_t steps,
         GangChoice& best)
      : fabric_(fabric), masks_(masks), left_(wants), steps_(steps), best_(best) {
    for (std::uint32_t i = 0; i < masks.size(); ++i) {
      if (masks[i] != 0) {
        positions_.push_back(i);
      }
    }
    chosen_.resize(wants.size());
    edges_.assign(wants.size(), 0);
    counts_.assign(at(fabric.depth()), 0);
    for (const auto& level : fabric.levels) {
      uses_.emplace_back(level.size(), 0);
    }
    // rest_[i][pool]: positions from i on that are fit for the pool.
    rest_.assign(positions_.size() + 1, std::vector<int>(wants.size(), 0));
    for (std::size_t i = positions_.size(); i-- > 0;) {
      rest_[i] = rest_[i + 1];
      for (std::size_t pool = 0; pool < wants.size(); ++pool) {
        rest_[i][pool] += masks[positions_[i]] >> pool & 1U;
      }
    }
  }

  bool run() { return positions_.size() <= kMostPositions && walk(0); }

 private:
  bool walk(std::size_t i) {
    if (--steps_ < 0) {
      return false;
    }
    int partial = 0;
    bool done = true;
    for (std::size_t pool = 0; pool < left_.size(); ++pool) {
      if (left_[pool] > rest_[i][pool]) {
        return true;
      }
      partial += edges_[pool];
      done = done && left_[pool] == 0;
    }
    if (counts_ > best_.counts || (counts_ == best_.counts && partial >= best_.edges)) {
      return true;  // both only grow
    }
    if (done) {
      keep();
      return true;
    }
    const std::uint32_t position = positions_[i];
    for (std::size_t pool = 0; pool < left_.size(); ++pool) {
      if (left_[pool] == 0 || (masks_[position] >> pool & 1U) == 0) {
        continue;
      }
      const int before = edges_[pool];
      if (!chosen_[pool].empty()) {
        edges_[pool] += fabric_.leaf[chosen_[pool].back()] != fabric_.leaf[position];
      }
      chosen_[pool].push_back(position);
      --left_[pool];
      use(position, 1);
      const bool go_on = walk(i + 1);
      use(position, -1);
      ++left_[pool];
      chosen_[pool].pop_back();
      edges_[pool] = before;
      if (!go_on) {
        return false;
      }
    }
    return walk(i + 1);
  }

  void use(std::uint32_t position, int step) {
    for (int level = 0; level < fabric_.depth(); ++level) {
      int& uses = uses_[at(level)][at(fabric_.above[at(level)][at(fabric_.leaf[position])])];
      counts_[at(level)] += step > 0 ? uses == 0 : -(uses == 1);
      uses += step;
    }
  }

  void keep() {
    int edges = 0;
    for (const auto& of_pool : chosen_) {
      edges += ring_edges(leaves_of(fabric_, of_pool));
    }
    if (counts_ < best_.counts || edges < best_.edges) {
      best_.of_pool = chosen_;
      best_.counts = counts_;
      best_.edges = edges;
    }
  }

  const Fabric& fabric_;
  const std::vector<std::uint32_t>& masks_;
  std::vector<int> left_;
  std::int64_t steps_;
  GangChoice& best_;
  std::vector<std::uint32_t> positions_{};
  std::vector<std::vector<std::uint32_t>> chosen_{};
  std::vector<int> edges_{};  // changes along each pool's chain so far
  std::vector<int> counts_{};
  std::vector<std::vector<int>> uses_{};
  std::vector<std::vector<int>> rest_{};
};

}  // namespace

void search_small_gang(const Fabric& fabric, const std::vector<std::uint32_t>& masks, const std::vector<int>& wants,
                       std::int64_t steps, GangChoice& best) {
  if (Search(fabric, masks, wants, steps, best).run()) {
    best.bounds.counts = best.counts;
    best.bounds.edges.back() = best.edges;
  }
}

}  // namespace verl::core::placement
