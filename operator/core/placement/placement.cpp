#include "operator/core/placement/placement.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_set>

#include <fmt/format.h>

#include "operator/core/placement/choose.h"
#include "operator/core/placement/explain.h"
#include "operator/core/placement/fabric.h"
#include "operator/core/placement/gang.h"
#include "operator/core/placement/ring.h"
#include "operator/core/placement/scopes.h"

namespace verl::core::placement {
namespace {

constexpr std::size_t kMostPools = 16;
constexpr int kAssignments = 20'000;  // of Required groups to domains, looked at
constexpr int kGangsTried = 200;      // of these, solved

std::size_t at(int i) { return static_cast<std::size_t>(i); }

Result<bool> check_topology(const Problem& problem, const std::optional<Topology>& topology, const std::string& whose) {
  if (topology && topology->level >= problem.levels.size()) {
    return failure(ErrorCode::Invalid, fmt::format("topology of {} names level {}, but {} levels are configured", whose,
                                                   topology->level, problem.levels.size()));
  }
  return true;
}

Result<bool> check(const Problem& problem) {
  if (problem.pools.size() > kMostPools) {
    return failure(ErrorCode::Invalid, fmt::format("{} pools; at most {} can be placed", problem.pools.size(), kMostPools));
  }
  if (auto sound = check_topology(problem, problem.topology, "the job"); !sound) {
    return sound;
  }
  std::vector<char> fit(problem.candidates.size(), 0);
  std::int64_t wanted = 0;
  for (const Pool& pool : problem.pools) {
    wanted += pool.nodes;
    if (pool.nodes < 0 || wanted > 1'000'000) {
      return failure(ErrorCode::Invalid, fmt::format("pool {} wants {} nodes", pool.name, pool.nodes));
    }
    if (auto sound = check_topology(problem, pool.topology, "pool " + pool.name); !sound) {
      return sound;
    }
    for (const std::uint32_t i : pool.eligible) {
      if (i >= fit.size()) {
        return failure(ErrorCode::Invalid, fmt::format("pool {} lists candidate {} of {}", pool.name, i, fit.size()));
      }
      fit[i] = 1;
    }
  }
  std::unordered_set<std::string_view> nodes;
  nodes.reserve(fit.size());
  for (std::size_t i = 0; i < fit.size(); ++i) {
    if (fit[i] == 0) {
      continue;
    }
    const Candidate& candidate = problem.candidates[i];
    if (candidate.address.empty()) {
      return failure(ErrorCode::Invalid, fmt::format("node {} has no address: its rank could not be known", candidate.node));
    }
    if (!nodes.insert(candidate.node).second) {
      return failure(ErrorCode::Invalid, fmt::format("node {} is listed twice", candidate.node));
    }
  }
  return true;
}

// Positions are in order of address, so equal ones are neighbours.
Result<bool> check_addresses(const Problem& problem, const Fabric& fabric) {
  for (std::size_t i = 1; i < fabric.candidate.size(); ++i) {
    const Candidate& one = problem.candidates[fabric.candidate[i - 1]];
    const Candidate& other = problem.candidates[fabric.candidate[i]];
    if (one.address == other.address) {
      return failure(ErrorCode::Invalid, fmt::format("nodes {} and {} have the same address {}: their ranks would be ambiguous",
                                                     one.node, other.node, one.address));
    }
  }
  return true;
}

std::size_t reported_level(const Problem& problem) {
  if (problem.topology) {
    return problem.topology->level;
  }
  for (const Pool& pool : problem.pools) {
    if (pool.topology) {
      return pool.topology->level;
    }
  }
  return problem.levels.empty() ? 0 : problem.levels.size() - 1;
}

std::vector<int> domains_at(const Fabric& fabric, const std::vector<std::uint32_t>& positions, int level) {
  std::vector<int> domains;
  domains.reserve(positions.size());
  for (const std::uint32_t position : positions) {
    domains.push_back(fabric.above[at(level)][at(fabric.leaf[position])]);
  }
  return domains;
}

Solution assemble(const Problem& problem, const Fabric& fabric, const GangChoice& gang) {
  Solution solution;
  solution.reported_level = reported_level(problem);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ranks;  // position, pool
  for (std::uint32_t pool = 0; pool < gang.of_pool.size(); ++pool) {
    for (const std::uint32_t position : gang.of_pool[pool]) {
      ranks.emplace_back(position, pool);
    }
  }
  std::sort(ranks.begin(), ranks.end());
  std::vector<std::uint32_t> chosen;
  for (const auto& [position, pool] : ranks) {
    solution.ranks.push_back({.candidate = fabric.candidate[position], .pool = pool});
    chosen.push_back(position);
  }
  bool outer_proven = true;
  for (int level = 0; level < fabric.depth() && !problem.levels.empty() && !chosen.empty(); ++level) {
    Span span;
    const std::vector<int> domains = domains_at(fabric, chosen, level);
    const std::set<int> distinct(domains.begin(), domains.end());
    for (const int domain : distinct) {
      span.names.push_back(shown_name(fabric, level, domain));
    }
    std::sort(span.names.begin(), span.names.end());
    for (const int domain : domains) {
      span.unknown += !fabric.levels[at(level)][at(domain)].known;
    }
    span.domains = static_cast<std::int32_t>(distinct.size());
    span.domains_bound = gang.bounds.counts[at(level)];
    outer_proven = outer_proven && span.domains == span.domains_bound && span.unknown == 0;
    span.domains_proven = outer_proven;
    for (const auto& of_pool : gang.of_pool) {
      span.edges += ring_edges(domains_at(fabric, of_pool, level));
    }
    span.edges_bound = gang.bounds.edges[at(level)];
    span.edges_proven = span.edges == span.edges_bound && span.unknown == 0;
    solution.spans.push_back(std::move(span));
  }
  if (!problem.levels.empty()) {
    solution.left_over = gang.damage.left_over;
    solution.free_racks_touched = gang.damage.free_racks;
  }
  return solution;
}

// The job has one pool that wants nodes.
std::optional<GangChoice> choose_one(const Problem& problem, const Fabric& fabric, std::size_t pool) {
  const int n = problem.pools[pool].nodes;
  if (static_cast<int>(fabric.candidate.size()) < n) {
    return std::nullopt;
  }
  std::vector<std::uint32_t> positions(fabric.candidate.size());
  std::iota(positions.begin(), positions.end(), 0U);
  const std::vector<Group> groups = required_groups(problem);
  std::optional<Choice> choice = groups.empty() ? choose(fabric, positions, n, problem.budget)
                                                : choose_within(fabric, positions, n, static_cast<int>(groups.front().level),
                                                                problem.budget);
  if (!choice) {
    return std::nullopt;
  }
  GangChoice gang{.of_pool = {}, .counts = choice->counts, .edges = choice->edges, .damage = choice->damage, .bounds = {}};
  gang.of_pool.resize(problem.pools.size());
  gang.of_pool[pool] = std::move(choice->positions);
  gang.bounds.counts = choice->bounds;
  for (const int bound : choice->bounds) {
    gang.bounds.edges.push_back(bound > 1 ? bound : 0);
  }
  gang.bounds.edges.back() = choice->edges_bound;
  return gang;
}

struct Found {
  std::optional<GangChoice> gang{};
  bool complete{true};
};

Found choose_several(const Problem& problem, const Fabric& fabric) {
  const std::vector<int> wants = wants_of(problem);
  Found found;
  if (starved(classes_of(fabric.mask), wants) != 0) {
    return found;
  }
  const GangBounds anything = gang_bounds(fabric, fabric.mask, wants);
  GangBounds least;
  int tried = 0;
  const auto visit = [&](const std::vector<std::uint32_t>& masks) {
    GangChoice gang = choose_gang(fabric, masks, wants, problem.budget);
    if (tried == 0 || gang.bounds.counts < least.counts) {
      least = gang.bounds;
    } else if (gang.bounds.counts == least.counts) {
      for (std::size_t level = 0; level < least.edges.size(); ++level) {
        least.edges[level] = std::min(least.edges[level], gang.bounds.edges[level]);
      }
    }
    ++tried;
    if (!found.gang || std::tie(gang.counts, gang.edges, gang.damage) <
                           std::tie(found.gang->counts, found.gang->edges, found.gang->damage)) {
      found.gang = std::move(gang);
    }
    const bool perfect = found.gang->counts == anything.counts && found.gang->edges == anything.edges.back();
    return !perfect && tried < kGangsTried;
  };
  found.complete = for_each_assignment(fabric, required_groups(problem), wants, kAssignments, visit).complete;
  if (found.gang) {
    found.gang->bounds = found.complete ? least : anything;
    if (found.gang->counts != found.gang->bounds.counts) {  // fewer domains may be possible, and with them fewer edges
      for (std::size_t level = 0; level < anything.edges.size(); ++level) {
        found.gang->bounds.edges[level] = std::min(found.gang->bounds.edges[level], anything.edges[level]);
      }
    }
  }
  return found;
}

}  // namespace

Result<Outcome> solve(const Problem& problem) {
  if (auto sound = check(problem); !sound) {
    return tl::unexpected(sound.error());
  }
  const Fabric fabric = make_fabric(problem);
  if (auto sound = check_addresses(problem, fabric); !sound) {
    return tl::unexpected(sound.error());
  }
  const auto wants_some = [](const Pool& pool) { return pool.nodes > 0; };
  const auto pools = std::count_if(problem.pools.begin(), problem.pools.end(), wants_some);
  if (pools == 0) {
    return Outcome{assemble(problem, fabric, GangChoice{.of_pool = {}})};
  }
  Found found;
  if (pools == 1) {
    const auto only = std::find_if(problem.pools.begin(), problem.pools.end(), wants_some);
    found.gang = choose_one(problem, fabric, static_cast<std::size_t>(only - problem.pools.begin()));
  } else {
    found = choose_several(problem, fabric);
  }
  if (found.gang) {
    return Outcome{assemble(problem, fabric, *found.gang)};
  }
  return Outcome{explain(problem, fabric, found.complete)};
}

}  // namespace verl::core::placement
