#include "oracle.h"

#include <algorithm>
#include <map>
#include <set>

namespace verl::core::placement {
namespace {

// The domain of a candidate at a level as a path; unknown ones get a name nobody else has.
std::string path(const Problem& problem, std::uint32_t i, std::size_t level) {
  const Candidate& candidate = problem.candidates[i];
  std::string text;
  for (std::size_t l = 0; l <= level; ++l) {
    if (!candidate.domains[l].empty()) {
      text += "/=" + candidate.domains[l];
      continue;
    }
    std::string inner;
    for (std::size_t m = l + 1; m < problem.levels.size() && inner.empty(); ++m) {
      inner = candidate.domains[m];
    }
    text += inner.empty() ? "/?node " + candidate.node : "/?of " + inner;
  }
  return text;
}

using Assignment = std::vector<int>;  // per candidate: pool, or -1

std::optional<Best> judge(const Problem& problem, const Assignment& pool_of) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < pool_of.size(); ++i) {
    if (pool_of[i] >= 0) {
      order.push_back(i);
    }
  }
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return problem.candidates[a].address < problem.candidates[b].address;
  });
  Best best;
  for (std::size_t level = 0; level < problem.levels.size(); ++level) {
    std::set<std::string> all;
    std::set<std::string> of_job;
    for (const std::uint32_t i : order) {
      all.insert(path(problem, i, level));
      if (!problem.pools[static_cast<std::size_t>(pool_of[i])].topology) {
        of_job.insert(path(problem, i, level));
      }
    }
    best.domains.push_back(static_cast<int>(all.size()));
    if (problem.topology && problem.topology->level == level && problem.topology->mode == api::TopologyMode::Required &&
        of_job.size() > 1) {
      return std::nullopt;
    }
  }
  const std::size_t innermost = problem.levels.size() - 1;
  for (std::size_t pool = 0; pool < problem.pools.size(); ++pool) {
    std::vector<std::uint32_t> ring;
    for (const std::uint32_t i : order) {
      if (pool_of[i] == static_cast<int>(pool)) {
        ring.push_back(i);
      }
    }
    if (static_cast<int>(ring.size()) != problem.pools[pool].nodes) {
      return std::nullopt;
    }
    std::set<std::string> own;
    for (std::size_t k = 0; k < ring.size(); ++k) {
      best.edges += path(problem, ring[k], innermost) != path(problem, ring[(k + 1) % ring.size()], innermost);
      if (problem.pools[pool].topology) {
        own.insert(path(problem, ring[k], problem.pools[pool].topology->level));
      }
    }
    if (own.size() > 1 && problem.pools[pool].topology->mode == api::TopologyMode::Required) {
      return std::nullopt;
    }
  }
  std::map<std::string, std::vector<std::uint32_t>> members;
  for (std::uint32_t i = 0; i < problem.candidates.size(); ++i) {
    members[path(problem, i, innermost)].push_back(i);
  }
  for (const auto& [name, nodes] : members) {
    const bool touched = std::any_of(nodes.begin(), nodes.end(), [&](std::uint32_t i) { return pool_of[i] >= 0; });
    bool free = true;
    for (const std::uint32_t i : nodes) {
      const bool fit = std::any_of(problem.pools.begin(), problem.pools.end(), [&](const Pool& pool) {
        return std::find(pool.eligible.begin(), pool.eligible.end(), i) != pool.eligible.end();
      });
      free = free && fit;
      best.left_over += touched && fit && pool_of[i] < 0;
    }
    best.free_racks += touched && free;
  }
  return best;
}

class Force {
 public:
  explicit Force(const Problem& problem) : problem_(problem), pool_of_(problem.candidates.size(), -1) {
    fit_.assign(problem.pools.size(), std::vector<char>(problem.candidates.size(), 0));
    for (std::size_t pool = 0; pool < problem.pools.size(); ++pool) {
      left_.push_back(problem.pools[pool].nodes);
      for (const std::uint32_t i : problem.pools[pool].eligible) {
        fit_[pool][i] = 1;
      }
    }
  }
  std::optional<Best> run() {
    walk(0);
    return best_;
  }

 private:
  void walk(std::size_t i) {
    int wanted = 0;
    for (const int left : left_) {
      wanted += left;
    }
    if (wanted > static_cast<int>(pool_of_.size() - i)) {
      return;
    }
    if (i == pool_of_.size()) {
      const std::optional<Best> here = judge(problem_, pool_of_);
      if (here && (!best_ || *here < *best_)) {
        best_ = here;
      }
      return;
    }
    walk(i + 1);
    for (std::size_t pool = 0; pool < left_.size(); ++pool) {
      if (left_[pool] > 0 && fit_[pool][i] != 0) {
        --left_[pool];
        pool_of_[i] = static_cast<int>(pool);
        walk(i + 1);
        pool_of_[i] = -1;
        ++left_[pool];
      }
    }
  }

  const Problem& problem_;
  Assignment pool_of_;
  std::vector<int> left_{};
  std::vector<std::vector<char>> fit_{};
  std::optional<Best> best_{};
};

}  // namespace

std::optional<Best> best_by_force(const Problem& problem) { return Force(problem).run(); }

std::optional<Best> measured(const Problem& problem, const Solution& solution) {
  Assignment pool_of(problem.candidates.size(), -1);
  std::string before;
  for (const Rank& rank : solution.ranks) {
    const Candidate& candidate = problem.candidates[rank.candidate];
    const auto& eligible = problem.pools[rank.pool].eligible;
    if (pool_of[rank.candidate] >= 0 || candidate.address <= before ||
        std::find(eligible.begin(), eligible.end(), rank.candidate) == eligible.end()) {
      return std::nullopt;
    }
    before = candidate.address;
    pool_of[rank.candidate] = static_cast<int>(rank.pool);
  }
  return judge(problem, pool_of);
}

}  // namespace verl::core::placement
