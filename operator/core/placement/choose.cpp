#include "operator/core/placement/choose.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "operator/core/placement/ring.h"

namespace verl::core::placement {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

constexpr std::int64_t kDamageSteps = 5'000'000;  // tidying up is worth milliseconds, never more
constexpr std::int64_t kWalkSteps = 20'000;
constexpr int kSetsTidied = 64;

class Chooser {
 public:
  Chooser(const Fabric& fabric, const std::vector<std::uint32_t>& positions, int n, std::int64_t budget)
      : fabric_(fabric), positions_(positions), n_(n), budget_(budget), offers_(offers_of(fabric, positions)) {}

  Choice run() {
    fewest_ = fewest_domains(fabric_, offers_, n_);
    const int k = fewest_.counts.back();
    if (k == 1) {
      take_naively({tightest_rack()});
      best_.edges_bound = 0;
      return finished();
    }
    best_.edges_bound = fewest_.bounds.back() > 1 ? fewest_.bounds.back() : 0;
    count_runs();
    const auto contiguous = [this](int rack) { return runs_[at(rack)] == 1; };
    if (const std::vector<int> racks = tidy_set(contiguous); !racks.empty()) {
      take_naively(racks);
    } else {
      consider(fewest_.racks);
    }
    if (std::all_of(runs_.begin(), runs_.end(), [](int runs) { return runs == 1; })) {
      return finished();
    }
    const std::vector<int> tidiest = tidy_set([](int) { return true; });
    if (!tidiest.empty()) {
      consider(tidiest);
    }
    if (best_.edges > best_.edges_bound) {
      search_or_bound(k);
    } else if (!tidiest.empty() && damage_of(offers_, tidiest, n_) < best_.damage) {
      budget_ = std::min(budget_, kDamageSteps);
      search(k);
    }
    return finished();
  }

 private:
  int tightest_rack() const {
    int best = -1;
    for (int i = 0; i < static_cast<int>(offers_.size()); ++i) {
      const Offer& offer = offers_[at(i)];
      if (offer.fit >= n_ && (best < 0 || std::tie(offer.fit, offer.wholly_free) <
                                              std::tie(offers_[at(best)].fit, offers_[at(best)].wholly_free))) {
        best = i;
      }
    }
    return best;
  }

  // Runs of each rack in the ring of all positions: one run stays one whatever is left out.
  void count_runs() {
    index_of_.assign(at(fabric_.leaves()), -1);
    for (int i = 0; i < static_cast<int>(offers_.size()); ++i) {
      index_of_[at(offers_[at(i)].leaf)] = i;
    }
    runs_.assign(offers_.size(), 0);
    int before = fabric_.leaf[positions_.back()];
    for (const std::uint32_t position : positions_) {
      const int leaf = fabric_.leaf[position];
      runs_[at(index_of_[at(leaf)])] += leaf != before;
      before = leaf;
    }
  }

  // The set of least damage that reaches the fewest counts from the racks allowed; empty when there is none.
  template <class Allowed>
  std::vector<int> tidy_set(const Allowed& allowed) const {
    std::vector<Offer> some;
    std::vector<int> original;
    for (int i = 0; i < static_cast<int>(offers_.size()); ++i) {
      if (allowed(i)) {
        some.push_back(offers_[at(i)]);
        original.push_back(i);
      }
    }
    const int k = fewest_.counts.back();
    std::vector<int> best;
    Damage best_damage;
    int tidied = 0;
    const std::function<bool(const std::vector<int>&)> visit = [&](const std::vector<int>& racks) {
      std::vector<Offer> here;
      std::vector<int> sorted = racks;
      std::sort(sorted.begin(), sorted.end());
      for (const int rack : sorted) {
        here.push_back(some[at(rack)]);
      }
      std::vector<int> set = least_damage(here, k, n_, kDamageSteps);
      if (!set.empty()) {
        for (int& rack : set) {
          rack = original[at(sorted[at(rack)])];
        }
        const Damage damage = damage_of(offers_, set, n_);
        if (best.empty() || std::tie(damage, set) < std::tie(best_damage, best)) {
          best_damage = damage;
          best = std::move(set);
        }
        ++tidied;
      }
      return tidied < kSetsTidied;
    };
    if (fabric_.depth() == 1) {
      std::vector<int> all(some.size());
      for (std::size_t i = 0; i < all.size(); ++i) {
        all[i] = static_cast<int>(i);
      }
      visit(all);
    } else {
      for_each_set(fabric_, some, fewest_.counts, fabric_.depth() - 2, n_, kWalkSteps, visit);
    }
    if (best.empty() && std::all_of(fewest_.racks.begin(), fewest_.racks.end(), allowed)) {
      best = fewest_.racks;
      std::sort(best.begin(), best.end());
    }
    return best;
  }

  std::vector<std::uint32_t> positions_in(const std::vector<int>& racks) const {
    std::vector<char> in(at(fabric_.leaves()), 0);
    for (const int rack : racks) {
      in[at(offers_[at(rack)].leaf)] = 1;
    }
    std::vector<std::uint32_t> inside;
    for (const std::uint32_t position : positions_) {
      if (in[at(fabric_.leaf[position])] != 0) {
        inside.push_back(position);
      }
    }
    return inside;
  }

  // All of the set but the highest addresses of its last racks.
  std::vector<std::uint32_t> naive(const std::vector<int>& racks) const {
    std::vector<int> quota(at(fabric_.leaves()), 0);
    std::vector<int> sorted = racks;
    std::sort(sorted.begin(), sorted.end());
    int spare = damage_of(offers_, sorted, n_).left_over;
    for (std::size_t i = sorted.size(); i-- > 0;) {
      const Offer& offer = offers_[at(sorted[i])];
      const int dropped = std::min(spare, offer.fit);
      quota[at(offer.leaf)] = offer.fit - dropped;
      spare -= dropped;
    }
    std::vector<std::uint32_t> taken;
    for (const std::uint32_t position : positions_) {
      if (quota[at(fabric_.leaf[position])]-- > 0) {
        taken.push_back(position);
      }
    }
    return taken;
  }

  void take_naively(const std::vector<int>& racks) {
    best_.positions = naive(racks);
    best_.edges = ring_edges(leaves_of(fabric_, best_.positions));
    best_.damage = damage_of(offers_, racks, n_);
    best_racks_ = racks;
  }

  // Rack numbers of a sequence as 0, 1, …, in order of appearance.
  std::vector<int> dense(const std::vector<std::uint32_t>& positions, int& domains) const {
    std::vector<int> number(at(fabric_.leaves()), -1);
    std::vector<int> sequence;
    sequence.reserve(positions.size());
    domains = 0;
    for (const std::uint32_t position : positions) {
      int& own = number[at(fabric_.leaf[position])];
      if (own < 0) {
        own = domains++;
      }
      sequence.push_back(own);
    }
    return sequence;
  }

  // Tries a set of racks and keeps it when it is better.
  void consider(std::vector<int> racks) {
    std::sort(racks.begin(), racks.end());
    const std::vector<std::uint32_t> inside = positions_in(racks);
    int domains = 0;
    const std::vector<int> sequence = dense(inside, domains);
    const Damage damage = damage_of(offers_, racks, n_);
    const auto better = [&](int edges) {
      return best_.positions.empty() || std::tie(edges, damage, racks) < std::tie(best_.edges, best_.damage, best_racks_);
    };
    budget_ -= static_cast<std::int64_t>(positions_.size());
    if (!better(ring_edges(sequence) - 2 * damage.left_over)) {  // leaving one out saves two edges at most
      return;
    }
    RingChoice ring;
    const std::int64_t cost = ring_cost(static_cast<std::int64_t>(sequence.size()), n_, domains);
    if (cost <= budget_) {
      budget_ -= cost;
      ring = fewest_ring_edges(sequence, n_, domains, fewest_.bounds.back());
      for (std::uint32_t& index : ring.taken) {
        index = inside[index];
      }
    } else {
      exhausted_ = true;
      ring.taken = naive(racks);
      ring.edges = ring_edges(leaves_of(fabric_, ring.taken));
    }
    if (better(ring.edges)) {
      best_.edges = ring.edges;
      best_.positions = std::move(ring.taken);
      best_.damage = damage;
      best_racks_ = std::move(racks);
    }
  }

  // Tries every set that reaches the fewest counts, when that fits the budget; true when all were tried.
  bool search(int k) {
    const double racks = static_cast<double>(offers_.size());
    const double sets = std::exp(std::lgamma(racks + 1) - std::lgamma(k + 1.0) - std::lgamma(racks - k + 1));
    if (sets * static_cast<double>(positions_.size()) > static_cast<double>(budget_)) {
      return false;
    }
    const std::function<bool(const std::vector<int>&)> visit = [this](const std::vector<int>& set) {
      consider(set);
      return !exhausted_;
    };
    return for_each_set(fabric_, offers_, fewest_.counts, fabric_.depth() - 1, n_, 4 * budget_, visit) && !exhausted_;
  }

  void search_or_bound(int k) {
    if (search(k)) {
      best_.edges_bound = best_.edges;
      return;
    }
    if (best_.edges > best_.edges_bound &&
        ring_cost(static_cast<std::int64_t>(positions_.size()), n_, static_cast<std::int64_t>(offers_.size())) <= budget_) {
      int domains = 0;
      const std::vector<int> sequence = dense(positions_, domains);
      best_.edges_bound = std::max(best_.edges_bound, least_ring_edges(sequence, n_, domains, best_.edges_bound));
    }
  }

  Choice finished() {
    best_.counts = counts_of(fabric_, best_.positions);
    best_.bounds = fewest_.bounds;
    if (best_.counts != best_.bounds) {  // fewer domains may be possible, and with them fewer edges
      const int least = best_.bounds.back();
      best_.edges_bound = std::min(best_.edges_bound, least > 1 ? least : 0);
    }
    return std::move(best_);
  }

  const Fabric& fabric_;
  const std::vector<std::uint32_t>& positions_;
  int n_;
  std::int64_t budget_;
  std::vector<Offer> offers_;
  Fewest fewest_{};
  std::vector<int> index_of_{};
  std::vector<int> runs_{};
  Choice best_{};
  std::vector<int> best_racks_{};
  bool exhausted_{false};
};

}  // namespace

std::vector<Offer> offers_of(const Fabric& fabric, const std::vector<std::uint32_t>& positions) {
  std::vector<int> fit(at(fabric.leaves()), 0);
  for (const std::uint32_t position : positions) {
    ++fit[at(fabric.leaf[position])];
  }
  std::vector<Offer> offers;
  for (int leaf = 0; leaf < fabric.leaves(); ++leaf) {
    if (fit[at(leaf)] > 0) {
      offers.push_back({.leaf = leaf, .fit = fit[at(leaf)], .wholly_free = fit[at(leaf)] == fabric.levels.back()[at(leaf)].total});
    }
  }
  return offers;
}

std::vector<int> counts_of(const Fabric& fabric, const std::vector<std::uint32_t>& positions) {
  std::vector<int> counts;
  for (int level = 0; level < fabric.depth(); ++level) {
    std::vector<char> seen(fabric.levels[at(level)].size(), 0);
    int count = 0;
    for (const std::uint32_t position : positions) {
      char& mark = seen[at(fabric.above[at(level)][at(fabric.leaf[position])])];
      count += mark == 0;
      mark = 1;
    }
    counts.push_back(count);
  }
  return counts;
}

std::vector<int> leaves_of(const Fabric& fabric, const std::vector<std::uint32_t>& positions) {
  std::vector<int> leaves;
  leaves.reserve(positions.size());
  for (const std::uint32_t position : positions) {
    leaves.push_back(fabric.leaf[position]);
  }
  return leaves;
}

Choice choose(const Fabric& fabric, const std::vector<std::uint32_t>& positions, int n, std::int64_t budget) {
  return Chooser(fabric, positions, n, budget).run();
}

}  // namespace verl::core::placement
