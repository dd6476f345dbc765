#include "operator/core/placement/scopes.h"

#include <algorithm>
#include <numeric>

namespace verl::core::placement {

std::vector<Group> required_groups(const Problem& problem) {
  std::vector<Group> groups;
  Group together;
  for (std::size_t i = 0; i < problem.pools.size(); ++i) {
    const Pool& pool = problem.pools[i];
    if (pool.nodes == 0) {
      continue;
    }
    if (!pool.topology) {
      together.pools.push_back(i);
      together.wanted += pool.nodes;
      together.bits |= 1U << i;
    } else if (pool.topology->mode == api::TopologyMode::Required) {
      groups.push_back({.pools = {i}, .level = pool.topology->level, .wanted = pool.nodes, .bits = 1U << i});
    }
  }
  if (problem.topology && problem.topology->mode == api::TopologyMode::Required && !together.pools.empty()) {
    together.level = problem.topology->level;
    groups.insert(groups.begin(), together);
  }
  return groups;
}

std::vector<int> wants_of(const Problem& problem) {
  std::vector<int> wants;
  for (const Pool& pool : problem.pools) {
    wants.push_back(pool.nodes);
  }
  return wants;
}

Classes classes_of(const std::vector<std::uint32_t>& masks) {
  Classes classes;
  for (const std::uint32_t mask : masks) {
    if (mask != 0) {
      ++classes[mask];
    }
  }
  return classes;
}

std::vector<int> served_by_domain(const Fabric& fabric, const Group& group, const std::vector<int>& wants) {
  std::vector<int> only(wants.size(), 0);
  for (const std::size_t pool : group.pools) {
    only[pool] = wants[pool];
  }
  std::vector<Classes> classes(fabric.levels[group.level].size());
  for (std::size_t position = 0; position < fabric.mask.size(); ++position) {
    const std::uint32_t mask = fabric.mask[position] & group.bits;
    if (mask != 0) {
      ++classes[static_cast<std::size_t>(fabric.above[group.level][static_cast<std::size_t>(fabric.leaf[position])])][mask];
    }
  }
  std::vector<int> served;
  for (const Classes& here : classes) {
    served.push_back(here.empty() ? 0 : serve(here, only).total);
  }
  return served;
}

namespace {

class AssignmentWalk {
 public:
  AssignmentWalk(const Fabric& fabric, const std::vector<Group>& groups, const std::vector<int>& wants, int limit,
                 const std::function<bool(const std::vector<std::uint32_t>&)>& visit)
      : fabric_(fabric), groups_(groups), wants_(wants), limit_(limit), visit_(visit) {
    for (const Group& group : groups) {
      const std::vector<int> served = served_by_domain(fabric, group, wants);
      std::vector<int> fit(served.size(), 0);
      for (std::size_t position = 0; position < fabric.mask.size(); ++position) {
        if ((fabric.mask[position] & group.bits) != 0) {
          ++fit[domain(group, position)];
        }
      }
      std::vector<std::pair<int, int>> able;
      for (std::size_t d = 0; d < served.size(); ++d) {
        if (served[d] >= group.wanted) {
          able.emplace_back(fit[d], static_cast<int>(d));
        }
      }
      std::sort(able.begin(), able.end());
      able_.push_back(std::move(able));
    }
  }

  Walk run() {
    walk(0, fabric_.mask);
    return result_;
  }

 private:
  std::size_t domain(const Group& group, std::size_t position) const {
    return static_cast<std::size_t>(fabric_.above[group.level][static_cast<std::size_t>(fabric_.leaf[position])]);
  }

  bool walk(std::size_t index, const std::vector<std::uint32_t>& masks) {
    if (limit_-- <= 0) {
      result_.complete = false;
      return false;
    }
    if (starved(classes_of(masks), wants_) != 0) {
      return true;
    }
    if (index == groups_.size()) {
      result_.found = true;
      result_.complete = visit_(masks);
      return result_.complete;
    }
    for (const auto& [fit, chosen] : able_[index]) {
      std::vector<std::uint32_t> reduced = masks;
      for (std::size_t position = 0; position < reduced.size(); ++position) {
        if (domain(groups_[index], position) != static_cast<std::size_t>(chosen)) {
          reduced[position] &= ~groups_[index].bits;
        }
      }
      if (!walk(index + 1, reduced)) {
        return false;
      }
    }
    return true;
  }

  const Fabric& fabric_;
  const std::vector<Group>& groups_;
  const std::vector<int>& wants_;
  int limit_;
  const std::function<bool(const std::vector<std::uint32_t>&)>& visit_;
  std::vector<std::vector<std::pair<int, int>>> able_{};
  Walk result_{};
};

}  // namespace

Walk for_each_assignment(const Fabric& fabric, const std::vector<Group>& groups, const std::vector<int>& wants, int limit,
                         const std::function<bool(const std::vector<std::uint32_t>&)>& visit) {
  return AssignmentWalk(fabric, groups, wants, limit, visit).run();
}

}  // namespace verl::core::placement
