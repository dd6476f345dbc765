// One domain of a Required level for the whole group: the best of those that hold it.
#include <algorithm>
#include <tuple>
#include <utility>

#include "operator/core/placement/choose.h"

namespace verl::core::placement {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

}  // namespace

std::optional<Choice> choose_within(const Fabric& fabric, const std::vector<std::uint32_t>& positions, int n, int level,
                                    std::int64_t budget) {
  if (n == 1) {
    return choose(fabric, positions, n, budget);
  }
  if (level == fabric.depth() - 1) {  // one rack: the tightest, no need to look into each
    const std::vector<Offer> offers = offers_of(fabric, positions);
    const Offer* tight = nullptr;
    for (const Offer& offer : offers) {
      if (offer.fit >= n &&
          (tight == nullptr || std::tie(offer.fit, offer.wholly_free) < std::tie(tight->fit, tight->wholly_free))) {
        tight = &offer;
      }
    }
    if (tight == nullptr) {
      return std::nullopt;
    }
    std::vector<std::uint32_t> inside;
    for (const std::uint32_t position : positions) {
      if (fabric.leaf[position] == tight->leaf) {
        inside.push_back(position);
      }
    }
    return choose(fabric, inside, n, budget);
  }
  std::vector<std::vector<std::uint32_t>> inside(fabric.levels[at(level)].size());
  for (const std::uint32_t position : positions) {
    inside[at(fabric.above[at(level)][at(fabric.leaf[position])])].push_back(position);
  }
  // First the counts alone, then everything for the domains that tie.
  std::vector<std::pair<std::vector<int>, std::size_t>> fits;
  std::vector<int> bounds;
  for (std::size_t domain = 0; domain < inside.size(); ++domain) {
    if (static_cast<int>(inside[domain].size()) >= n) {
      Fewest fewest = fewest_domains(fabric, offers_of(fabric, inside[domain]), n);
      bounds = bounds.empty() ? fewest.bounds : std::min(bounds, fewest.bounds);
      fits.emplace_back(std::move(fewest.counts), domain);
    }
  }
  if (fits.empty()) {
    return std::nullopt;
  }
  std::stable_sort(fits.begin(), fits.end());
  const auto ties = std::count_if(fits.begin(), fits.end(), [&](const auto& fit) { return fit.first == fits.front().first; });
  std::optional<Choice> best;
  int edges_bound = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(ties); ++i) {
    Choice choice = choose(fabric, inside[fits[i].second], n, budget / ties);
    edges_bound = i == 0 ? choice.edges_bound : std::min(edges_bound, choice.edges_bound);
    if (!best || std::tie(choice.counts, choice.edges, choice.damage) < std::tie(best->counts, best->edges, best->damage)) {
      best = std::move(choice);
    }
  }
  best->bounds = bounds;
  best->edges_bound = edges_bound;
  if (best->counts != bounds) {
    best->edges_bound = std::min(edges_bound, bounds.back() > 1 ? bounds.back() : 0);
  }
  return best;
}

}  // namespace verl::core::placement
