#include "operator/core/placement/gang.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "operator/core/placement/gang_search.h"
#include "operator/core/placement/ring.h"
#include "operator/core/placement/scopes.h"

namespace verl::core::placement {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

constexpr std::size_t kPoolsPermuted = 4;
constexpr std::int64_t kFlowSteps = 50'000;

std::vector<std::uint32_t> fit_positions(const std::vector<std::uint32_t>& masks, std::uint32_t bits) {
  std::vector<std::uint32_t> positions;
  for (std::uint32_t i = 0; i < masks.size(); ++i) {
    if ((masks[i] & bits) != 0) {
      positions.push_back(i);
    }
  }
  return positions;
}

int fewest_at_level(const Fabric& fabric, const std::vector<std::uint32_t>& positions, int level, int n) {
  std::vector<int> fit(fabric.levels[at(level)].size(), 0);
  for (const std::uint32_t position : positions) {
    ++fit[at(fabric.above[at(level)][at(fabric.leaf[position])])];
  }
  return std::max(1, fewest_to_reach(std::move(fit), n));
}

// Racks by which more and more is served, those under domains already used first; then what can go goes.
std::vector<char> racks_for_all(const Fabric& fabric, const std::vector<std::uint32_t>& masks, const std::vector<int>& wants) {
  const int leaves = fabric.leaves();
  std::vector<Classes> of_leaf(at(leaves));
  std::vector<int> fit(at(leaves), 0);
  for (std::size_t i = 0; i < masks.size(); ++i) {
    if (masks[i] != 0) {
      ++of_leaf[at(fabric.leaf[i])][masks[i]];
      ++fit[at(fabric.leaf[i])];
    }
  }
  const int total = std::accumulate(wants.begin(), wants.end(), 0);
  std::vector<char> in(at(leaves), 0);
  Classes classes;
  int served = 0;
  const auto with = [&](int leaf) {
    Classes sum = classes;
    for (const auto& [mask, count] : of_leaf[at(leaf)]) {
      sum[mask] += count;
    }
    return sum;
  };
  std::vector<int> order(at(leaves));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return fit[at(a)] > fit[at(b)]; });
  const bool look_ahead = static_cast<std::int64_t>(leaves) * std::min(leaves, total) <= kFlowSteps;
  for (std::size_t next = 0; served < total; ++next) {
    int best = -1;
    std::tuple<int, int> best_value{-1, -1};
    if (look_ahead) {
      for (const int leaf : order) {
        if (in[at(leaf)] != 0 || fit[at(leaf)] == 0) {
          continue;
        }
        int shared = 0;  // levels whose domain is used already
        for (int level = 0; level + 1 < fabric.depth(); ++level) {
          bool used = false;
          for (int other = 0; other < leaves && !used; ++other) {
            used = in[at(other)] != 0 && fabric.above[at(level)][at(other)] == fabric.above[at(level)][at(leaf)];
          }
          shared += used;
        }
        const std::tuple<int, int> value{shared * (serve(with(leaf), wants).total > served), serve(with(leaf), wants).total};
        if (best < 0 || value > best_value) {
          best = leaf;
          best_value = value;
        }
      }
    } else {
      best = order[next];
    }
    in[at(best)] = 1;
    classes = with(best);
    served = serve(classes, wants).total;
  }
  for (std::size_t i = order.size(); look_ahead && i-- > 0;) {  // smallest first
    if (in[at(order[i])] == 0) {
      continue;
    }
    Classes rest = classes;
    for (const auto& [mask, count] : of_leaf[at(order[i])]) {
      rest[mask] -= count;
    }
    if (serve(rest, wants).total == total) {
      classes = std::move(rest);
      in[at(order[i])] = 0;
    }
  }
  return in;
}

// One pool after the other in this order, each as good as it gets while the rest can still be served.
std::vector<std::vector<std::uint32_t>> one_by_one(const Fabric& fabric, std::vector<std::uint32_t> masks,
                                                   std::vector<int> wants, const std::vector<std::size_t>& order,
                                                   std::int64_t budget) {
  std::vector<std::vector<std::uint32_t>> of_pool(wants.size());
  for (const std::size_t pool : order) {
    const int n = wants[pool];
    if (n == 0) {
      continue;
    }
    const std::uint32_t bit = 1U << pool;
    std::vector<std::uint32_t> taken = choose(fabric, fit_positions(masks, bit), n, budget).positions;
    const auto without = [&](const std::vector<std::uint32_t>& positions) {
      std::vector<std::uint32_t> rest = masks;
      for (const std::uint32_t position : positions) {
        rest[position] = 0;
      }
      return rest;
    };
    std::vector<int> others = wants;
    others[pool] = 0;
    if (starved(classes_of(without(taken)), others) != 0) {  // then by the quotas of a flow that serves all
      auto quota = serve(classes_of(masks), wants).from[pool];
      taken.clear();
      for (const std::uint32_t position : fit_positions(masks, bit)) {
        const auto found = quota.find(masks[position]);
        if (found != quota.end() && found->second > 0) {
          --found->second;
          taken.push_back(position);
        }
      }
    }
    masks = without(taken);
    wants = others;
    of_pool[pool] = std::move(taken);
  }
  return of_pool;
}

Damage gang_damage(const Fabric& fabric, const std::vector<std::uint32_t>& masks, const std::vector<std::uint32_t>& chosen) {
  std::vector<char> touched(at(fabric.leaves()), 0);
  for (const std::uint32_t position : chosen) {
    touched[at(fabric.leaf[position])] = 1;
  }
  Damage damage{.left_over = -static_cast<int>(chosen.size()), .free_racks = 0};
  for (const Offer& offer : offers_of(fabric, fit_positions(masks, ~0U))) {
    if (touched[at(offer.leaf)] != 0) {
      damage.left_over += offer.fit;
      damage.free_racks += offer.wholly_free;
    }
  }
  return damage;
}

}  // namespace

GangBounds gang_bounds(const Fabric& fabric, const std::vector<std::uint32_t>& masks, const std::vector<int>& wants) {
  const std::uint32_t all = (1U << wants.size()) - 1;
  const int total = std::accumulate(wants.begin(), wants.end(), 0);
  GangBounds bounds;
  bounds.edges.assign(at(fabric.depth()), 0);
  const Fewest together = fewest_domains(fabric, offers_of(fabric, fit_positions(masks, all)), total);
  bool outer_same = true;  // the inner bounds of `together` hold only with as few domains outside
  for (int level = 0; level < fabric.depth(); ++level) {
    int bound = outer_same ? together.bounds[at(level)] : fewest_at_level(fabric, fit_positions(masks, all), level, total);
    for (std::uint32_t some = 1; some < all && wants.size() <= 6; ++some) {
      int n = 0;
      for (std::size_t pool = 0; pool < wants.size(); ++pool) {
        n += (some >> pool & 1U) != 0 ? wants[pool] : 0;
      }
      if (n > 0) {
        bound = std::max(bound, fewest_at_level(fabric, fit_positions(masks, some), level, n));
      }
    }
    outer_same = outer_same && bound == together.bounds[at(level)];
    bounds.counts.push_back(bound);
    for (std::size_t pool = 0; pool < wants.size(); ++pool) {
      if (wants[pool] > 0) {
        const int k = fewest_at_level(fabric, fit_positions(masks, 1U << pool), level, wants[pool]);
        bounds.edges[at(level)] += k > 1 ? k : 0;
      }
    }
  }
  return bounds;
}

GangChoice choose_gang(const Fabric& fabric, const std::vector<std::uint32_t>& masks, const std::vector<int>& wants,
                       std::int64_t budget) {
  const std::uint32_t all = (1U << wants.size()) - 1;
  GangChoice best;
  best.bounds = gang_bounds(fabric, masks, wants);
  std::uint32_t wanted_bits = 0;
  for (std::size_t pool = 0; pool < wants.size(); ++pool) {
    wanted_bits |= wants[pool] > 0 ? 1U << pool : 0U;
  }
  std::vector<std::uint32_t> within = masks;
  const std::vector<std::uint32_t> positions = fit_positions(masks, all);
  const bool alike = std::all_of(positions.begin(), positions.end(),
                                 [&](std::uint32_t position) { return (masks[position] & wanted_bits) == wanted_bits; });
  if (alike) {  // then any node serves any pool: choose them together
    std::fill(within.begin(), within.end(), 0);
    for (const std::uint32_t position :
         choose(fabric, positions, std::accumulate(wants.begin(), wants.end(), 0), budget / 4).positions) {
      within[position] = masks[position];
    }
  } else {
    const std::vector<char> in = racks_for_all(fabric, masks, wants);
    for (std::size_t i = 0; i < within.size(); ++i) {
      within[i] = in[at(fabric.leaf[i])] != 0 ? within[i] : 0;
    }
  }
  std::vector<std::size_t> order(wants.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const bool permute = wants.size() <= kPoolsPermuted;
  if (!permute) {
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return wants[a] > wants[b]; });
  }
  do {
    GangChoice here;
    here.of_pool = one_by_one(fabric, within, wants, order, budget / 100);
    std::vector<std::uint32_t> chosen;
    for (const auto& of_pool : here.of_pool) {
      here.edges += ring_edges(leaves_of(fabric, of_pool));
      chosen.insert(chosen.end(), of_pool.begin(), of_pool.end());
    }
    here.counts = counts_of(fabric, chosen);
    here.damage = gang_damage(fabric, masks, chosen);
    if (best.of_pool.empty() || std::tie(here.counts, here.edges, here.damage) < std::tie(best.counts, best.edges, best.damage)) {
      here.bounds = std::move(best.bounds);
      best = std::move(here);
    }
  } while (permute && std::next_permutation(order.begin(), order.end()));
  if (best.counts != best.bounds.counts || best.edges != best.bounds.edges.back()) {
    search_small_gang(fabric, masks, wants, budget / 20, best);
    std::vector<std::uint32_t> chosen;
    for (const auto& of_pool : best.of_pool) {
      chosen.insert(chosen.end(), of_pool.begin(), of_pool.end());
    }
    best.damage = gang_damage(fabric, masks, chosen);
  }
  return best;
}

}  // namespace verl::core::placement
