#include "operator/core/placement/flow.h"

#include <algorithm>
#include <cstddef>

namespace verl::core::placement {
namespace {

// Augmenting paths over pools: pool → class it could use → pool that uses that class now → …
class Flow {
 public:
  Flow(const Classes& classes, const std::vector<int>& wants) : wants_(wants), free_(classes) {
    served_.from.resize(wants.size());
  }

  bool serve_all(std::size_t pool) {
    int have = 0;
    while (have < wants_[pool]) {
      reached_ = 0;
      const int moved = augment(pool, wants_[pool] - have);
      if (moved == 0) {
        return false;
      }
      have += moved;
      served_.total += moved;
    }
    return true;
  }

  std::uint32_t reached() const { return reached_; }
  Served take() { return std::move(served_); }

 private:
  // Gives up to `amount` more nodes to the pool; returns how many.
  int augment(std::size_t pool, int amount) {
    const std::uint32_t bit = 1U << pool;
    reached_ |= bit;
    for (auto& [mask, count] : free_) {
      if ((mask & bit) != 0 && count > 0) {
        const int moved = std::min(amount, count);
        count -= moved;
        served_.from[pool][mask] += moved;
        return moved;
      }
    }
    for (std::size_t other = 0; other < wants_.size(); ++other) {
      if ((reached_ & (1U << other)) != 0) {
        continue;
      }
      for (auto& [mask, count] : served_.from[other]) {
        if ((mask & bit) == 0 || count == 0) {
          continue;
        }
        const int moved = augment(other, std::min(amount, count));
        if (moved > 0) {
          count -= moved;
          served_.from[pool][mask] += moved;
          return moved;
        }
        break;  // `other` is reached now and could not move
      }
    }
    return 0;
  }

  const std::vector<int>& wants_;
  Classes free_;
  Served served_{};
  std::uint32_t reached_{0};
};

}  // namespace

Served serve(const Classes& classes, const std::vector<int>& wants) {
  Flow flow(classes, wants);
  for (std::size_t pool = 0; pool < wants.size(); ++pool) {
    flow.serve_all(pool);
  }
  return flow.take();
}

std::uint32_t starved(const Classes& classes, const std::vector<int>& wants) {
  Flow flow(classes, wants);
  for (std::size_t pool = 0; pool < wants.size(); ++pool) {
    if (!flow.serve_all(pool)) {
      return flow.reached();
    }
  }
  return 0;
}

}  // namespace verl::core::placement
