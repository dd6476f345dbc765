#include "operator/core/placement/racks.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace verl::core::placement {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// Largest first; among equals those that are not wholly free, then by number.
void sort_by_size(const std::vector<Offer>& offers, std::vector<int>& racks) {
  std::sort(racks.begin(), racks.end(), [&](int left, int right) {
    const Offer& a = offers[at(left)];
    const Offer& b = offers[at(right)];
    return std::tie(b.fit, a.wholly_free, left) < std::tie(a.fit, b.wholly_free, right);
  });
}

std::vector<int> largest_first(const std::vector<Offer>& offers, std::vector<int> racks, int n) {
  sort_by_size(offers, racks);
  int sum = 0;
  std::size_t used = 0;
  while (used < racks.size() && sum < n) {
    sum += offers[at(racks[used++])].fit;
  }
  racks.resize(used);
  return racks;
}

int distinct(const Fabric& fabric, const std::vector<Offer>& offers, const std::vector<int>& racks, int level) {
  return static_cast<int>(grouped_by_domain(fabric, offers, racks, level).size());
}

// Two levels counted together: `blocks` groups of racks, exactly `wanted` of them touched, fewest racks in all.
// most[b][k] = most nodes in exactly b blocks and k racks; a block's best k racks are its k largest.
std::vector<int> fewest_racks_in_blocks(const std::vector<Offer>& offers, std::vector<std::vector<int>> blocks, int wanted,
                                        int racks_at_most, int n) {
  const std::size_t width = at(racks_at_most) + 1;
  const std::size_t size = (at(wanted) + 1) * width;
  std::vector<int> most(size, -1);
  most[0] = 0;
  std::vector<std::vector<std::int32_t>> taken;  // per block: racks taken at each entry, 0 for none
  for (std::vector<int>& block : blocks) {
    sort_by_size(offers, block);
    std::vector<std::int32_t> here(size, 0);
    for (int b = wanted; b >= 1; --b) {
      for (int k = racks_at_most; k >= 1; --k) {
        int& entry = most[at(b) * width + at(k)];
        int sum = 0;
        for (int t = 1; t <= std::min(k, static_cast<int>(block.size())); ++t) {
          sum += offers[at(block[at(t - 1)])].fit;
          const int before = most[at(b - 1) * width + at(k - t)];
          if (before >= 0 && before + sum > entry) {
            entry = before + sum;
            here[at(b) * width + at(k)] = t;
          }
        }
      }
    }
    taken.push_back(std::move(here));
  }
  int k = 0;
  while (k <= racks_at_most && most[at(wanted) * width + at(k)] < n) {
    ++k;
  }
  std::vector<int> racks;
  if (k > racks_at_most) {
    return racks;
  }
  int b = wanted;
  for (std::size_t i = blocks.size(); i-- > 0;) {
    const int t = taken[i][at(b) * width + at(k)];
    racks.insert(racks.end(), blocks[i].begin(), blocks[i].begin() + t);
    b -= t > 0;
    k -= t;
  }
  return racks;
}

constexpr std::int64_t kTableSteps = 200'000'000;

Fewest fewest_from(const Fabric& fabric, const std::vector<Offer>& offers, const std::vector<int>& racks, int level, int n) {
  Fewest best;
  const int depth = fabric.depth();
  std::vector<std::vector<std::vector<int>>> groups;  // per level from `level` inwards
  for (int l = level; l < depth; ++l) {
    groups.push_back(grouped_by_domain(fabric, offers, racks, l));
    std::vector<int> fits;
    for (const auto& group : groups.back()) {
      fits.push_back(fit_of(offers, group));
    }
    best.bounds.push_back(fewest_to_reach(std::move(fits), n));
  }
  const auto count_up = [&](std::vector<int> chosen) {
    best.racks = std::move(chosen);
    best.counts.clear();
    for (int l = level; l < depth; ++l) {
      best.counts.push_back(distinct(fabric, offers, best.racks, l));
    }
  };
  count_up(largest_first(offers, racks, n));
  if (best.counts == best.bounds) {
    return best;
  }
  if (best.bounds.front() == 1) {  // level + 1 < depth: at the innermost, largest first is the bound
    Fewest nested;
    std::vector<int> bounds;
    for (const auto& group : groups.front()) {
      if (fit_of(offers, group) < n) {
        continue;
      }
      Fewest here = fewest_from(fabric, offers, group, level + 1, n);
      bounds = bounds.empty() ? here.bounds : std::min(bounds, here.bounds);
      if (nested.counts.empty() || here.counts < nested.counts) {
        nested = std::move(here);
      }
    }
    best.racks = std::move(nested.racks);
    best.counts = std::move(nested.counts);
    best.counts.insert(best.counts.begin(), 1);
    best.bounds = std::move(bounds);
    best.bounds.insert(best.bounds.begin(), 1);
    return best;
  }
  const int wanted = best.bounds.front();
  std::vector<std::pair<int, int>> by_size;
  for (std::size_t i = 0; i < groups.front().size(); ++i) {
    by_size.emplace_back(-fit_of(offers, groups.front()[i]), static_cast<int>(i));
  }
  std::sort(by_size.begin(), by_size.end());
  std::vector<int> in_largest;
  for (int i = 0; i < wanted; ++i) {
    const auto& group = groups.front()[at(by_size[at(i)].second)];
    in_largest.insert(in_largest.end(), group.begin(), group.end());
  }
  std::vector<int> simple = largest_first(offers, in_largest, n);
  const int at_most = static_cast<int>(simple.size());
  const std::int64_t steps = static_cast<std::int64_t>(wanted) * at_most * static_cast<std::int64_t>(racks.size());
  if (steps <= kTableSteps) {
    std::vector<int> exact = fewest_racks_in_blocks(offers, groups.front(), wanted, at_most, n);
    count_up(exact.empty() ? std::move(simple) : std::move(exact));
    best.bounds.back() = best.counts.back();  // given the blocks, no fewer racks hold n
  } else {
    count_up(std::move(simple));
  }
  return best;
}

}  // namespace

std::vector<std::vector<int>> grouped_by_domain(const Fabric& fabric, const std::vector<Offer>& offers,
                                               const std::vector<int>& racks, int level) {
  std::vector<std::pair<int, int>> keyed;
  for (const int rack : racks) {
    keyed.emplace_back(fabric.above[at(level)][at(offers[at(rack)].leaf)], rack);
  }
  std::sort(keyed.begin(), keyed.end());
  std::vector<std::vector<int>> groups;
  for (std::size_t i = 0; i < keyed.size(); ++i) {
    if (i == 0 || keyed[i].first != keyed[i - 1].first) {
      groups.emplace_back();
    }
    groups.back().push_back(keyed[i].second);
  }
  return groups;
}

int fit_of(const std::vector<Offer>& offers, const std::vector<int>& racks) {
  int sum = 0;
  for (const int rack : racks) {
    sum += offers[at(rack)].fit;
  }
  return sum;
}

int fewest_to_reach(std::vector<int> values, int n) {
  std::sort(values.begin(), values.end(), std::greater<>());
  int sum = 0;
  int used = 0;
  for (const int value : values) {
    if (sum >= n) {
      break;
    }
    sum += value;
    ++used;
  }
  return sum >= n ? used : -1;
}

Fewest fewest_domains(const Fabric& fabric, const std::vector<Offer>& offers, int n) {
  std::vector<int> all(offers.size());
  std::iota(all.begin(), all.end(), 0);
  return fewest_from(fabric, offers, all, 0, n);
}

Damage damage_of(const std::vector<Offer>& offers, const std::vector<int>& racks, int n) {
  Damage damage{.left_over = fit_of(offers, racks) - n, .free_racks = 0};
  for (const int rack : racks) {
    damage.free_racks += offers[at(rack)].wholly_free;
  }
  return damage;
}

std::vector<int> least_damage(const std::vector<Offer>& offers, int k, int n, std::int64_t steps) {
  std::vector<int> all(offers.size());
  std::iota(all.begin(), all.end(), 0);
  std::vector<int> by_size = all;
  sort_by_size(offers, by_size);
  if (static_cast<int>(by_size.size()) < k) {
    return {};
  }
  std::vector<int> simple(by_size.begin(), by_size.begin() + k);
  int sum = fit_of(offers, simple);
  if (sum < n) {
    return {};
  }
  // The tightest last: the smallest rack that still completes the others.
  const int missing = n - (sum - offers[at(simple.back())].fit);
  for (std::size_t i = at(k); i < by_size.size() && offers[at(by_size[i])].fit >= missing; ++i) {
    if (offers[at(by_size[i])].fit < offers[at(simple.back())].fit) {
      simple.back() = by_size[i];
    }
  }
  std::sort(simple.begin(), simple.end());
  if (damage_of(offers, simple, n) == Damage{}) {
    return simple;
  }
  // reach[j][t] = fewest wholly free racks among j racks that together hold t.
  const int largest = offers[at(by_size.front())].fit;
  const std::size_t width = at(n + largest) + 1;
  if (static_cast<std::int64_t>(offers.size() * width) * k > steps) {
    return simple;
  }
  constexpr std::int16_t kNo = 30'000;
  std::vector<std::int16_t> reach((at(k) + 1) * width, kNo);
  std::vector<std::vector<char>> taken(offers.size());
  reach[0] = 0;
  for (std::size_t i = offers.size(); i-- > 0;) {  // backwards, so that ties go to the earlier offers
    std::vector<char>& here = taken[i];
    here.assign(reach.size(), 0);
    const std::size_t fit = at(offers[i].fit);
    const auto cost = static_cast<std::int16_t>(offers[i].wholly_free);
    for (std::size_t j = at(k); j >= 1; --j) {
      const std::int16_t* from = &reach[(j - 1) * width];
      std::int16_t* to = &reach[j * width];
      char* mark = &here[j * width];
      for (std::size_t t = fit; t < width; ++t) {
        const auto with = static_cast<std::int16_t>(from[t - fit] + cost);
        const bool better = with <= to[t] && with < kNo;
        to[t] = better ? with : to[t];
        mark[t] = static_cast<char>(better);
      }
    }
  }
  std::size_t t = at(n);
  while (t < width && reach[at(k) * width + t] >= kNo) {
    ++t;
  }
  if (t == width) {
    return simple;
  }
  std::vector<int> best;
  std::size_t j = at(k);
  for (std::size_t i = 0; i < offers.size() && j > 0; ++i) {
    if (taken[i][j * width + t] != 0) {
      best.push_back(static_cast<int>(i));
      t -= at(offers[i].fit);
      --j;
    }
  }
  return best;
}

}  // namespace verl::core::placement
