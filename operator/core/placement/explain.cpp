#include "operator/core/placement/explain.h"

#include <algorithm>
#include <tuple>

#include "operator/core/placement/scopes.h"

namespace verl::core::placement {
namespace {

constexpr std::size_t kDomainsShown = 3;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

void bind(const Problem& problem, const Fabric& fabric, std::uint32_t bits, Shortage& shortage) {
  for (std::size_t i = 0; i < problem.pools.size(); ++i) {
    if ((bits >> i & 1U) != 0) {
      shortage.binding.push_back(problem.pools[i].name);
      shortage.wanted += problem.pools[i].nodes;
    }
  }
  shortage.available = static_cast<std::int32_t>(
      std::count_if(fabric.mask.begin(), fabric.mask.end(), [&](std::uint32_t mask) { return (mask & bits) != 0; }));
}

void add_domains(const Fabric& fabric, const Group& group, const std::vector<int>& wants, Shortage& shortage) {
  shortage.level = group.level;
  const std::vector<int> served = served_by_domain(fabric, group, wants);
  std::vector<std::pair<int, int>> order;
  for (std::size_t d = 0; d < served.size(); ++d) {
    if (served[d] > 0) {
      order.emplace_back(-served[d], static_cast<int>(d));
    }
  }
  std::sort(order.begin(), order.end());
  for (std::size_t i = 0; i < std::min(order.size(), kDomainsShown); ++i) {
    const int domain = order[i].second;
    shortage.best.push_back({.name = shown_name(fabric, static_cast<int>(group.level), domain),
                             .eligible = served[at(domain)],
                             .total = fabric.levels[group.level][at(domain)].total,
                             .short_of = std::max(0, group.wanted - served[at(domain)])});
  }
}

std::optional<Relaxation> relax(const Problem& problem, std::size_t level) {
  Problem relaxed = problem;
  const auto loosen = [](std::optional<Topology>& topology) {
    if (topology) {
      topology->mode = api::TopologyMode::Preferred;
    }
  };
  loosen(relaxed.topology);
  for (Pool& pool : relaxed.pools) {
    loosen(pool.topology);
  }
  const Result<Outcome> outcome = solve(relaxed);
  const Solution* solution = outcome ? std::get_if<Solution>(&*outcome) : nullptr;
  if (solution == nullptr || level >= solution->spans.size()) {
    return std::nullopt;
  }
  const Span& span = solution->spans[level];
  return Relaxation{
      .domains = span.domains, .domains_proven = span.domains_proven, .edges = span.edges, .names = span.names};
}

}  // namespace

Shortage explain(const Problem& problem, const Fabric& fabric, bool complete) {
  Shortage shortage;
  const std::vector<int> wants = wants_of(problem);
  std::uint32_t too_few = 0;
  for (std::size_t i = 0; i < problem.pools.size(); ++i) {
    const Pool& pool = problem.pools[i];
    std::vector<std::uint32_t> eligible = pool.eligible;
    std::sort(eligible.begin(), eligible.end());
    const auto fit = std::unique(eligible.begin(), eligible.end()) - eligible.begin();
    shortage.pools.push_back({.pool = pool.name, .wanted = pool.nodes, .eligible = static_cast<std::int32_t>(fit)});
    too_few |= fit < pool.nodes ? 1U << i : 0U;
  }
  const std::vector<Group> groups = required_groups(problem);
  const std::uint32_t competing = too_few == 0 ? starved(classes_of(fabric.mask), wants) : 0;
  if (too_few != 0 || competing != 0) {
    shortage.cause = too_few != 0 ? Cause::TooFewNodes : Cause::PoolsCompete;
    const std::uint32_t bits = too_few != 0 ? too_few : competing;
    bind(problem, fabric, bits, shortage);
    for (const Group& group : groups) {
      if ((group.bits & bits) != 0) {
        add_domains(fabric, group, wants, shortage);
        break;
      }
    }
    return shortage;
  }
  for (const Group& group : groups) {
    const std::vector<int> served = served_by_domain(fabric, group, wants);
    if (*std::max_element(served.begin(), served.end()) < group.wanted) {
      shortage.cause = Cause::NoDomainFits;
      bind(problem, fabric, group.bits, shortage);
      add_domains(fabric, group, wants, shortage);
      shortage.relaxation = relax(problem, group.level);
      return shortage;
    }
  }
  shortage.cause = complete ? Cause::DomainsCompete : Cause::NotFound;
  std::uint32_t bits = 0;
  for (const Group& group : groups) {
    bits |= group.bits;
  }
  bind(problem, fabric, bits, shortage);
  if (!groups.empty()) {
    add_domains(fabric, groups.front(), wants, shortage);
    shortage.relaxation = relax(problem, groups.front().level);
  }
  return shortage;
}

}  // namespace verl::core::placement
