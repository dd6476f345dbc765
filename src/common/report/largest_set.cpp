// Decides how many ready nodes could work together, over the whole cluster and within one domain of each level.
#include <algorithm>
#include <map>
#include <tuple>

#include "report/readiness.h"

namespace verl::report {
namespace {

struct Tally {
  std::int32_t nodes{0};
  std::int64_t gpus{0};
  std::string name{};
  bool more_than(const Tally& other) const { return std::tie(nodes, gpus) > std::tie(other.nodes, other.gpus); }
  bool as_many_as(const Tally& other) const { return nodes == other.nodes && gpus == other.gpus; }
};

void add(Tally& tally, const NodeLine& node) {
  ++tally.nodes;
  tally.gpus += node.gpus;
}

// Where a node is at a level: the names from the outermost level down, since equal names under different parents are
// different domains. A node without a label is alone.
std::string path_of(const NodeLine& node, size_t level) {
  const auto at = [&](size_t i) { return i < node.domains.size() ? node.domains[i] : std::string(); };
  if (at(level).empty()) return "\n" + node.name;
  std::string path;
  for (size_t i = 0; i <= level; ++i) path += at(i) + "\n";
  return path;
}

}  // namespace

LargestSet largest_ready_set(const ReportInput& input) {
  std::map<std::string, Tally> whole;  // by what nodes must be alike in
  std::vector<std::map<std::pair<std::string, std::string>, Tally>> by_level(input.levels.size());
  for (const NodeLine& node : input.nodes) {
    if (node.word != Word::Ready || !node.held_back.empty()) continue;
    add(whole[node.like], node);
    for (size_t level = 0; level < input.levels.size(); ++level) {
      Tally& tally = by_level[level][{node.like, path_of(node, level)}];
      add(tally, node);
      const bool known = level < node.domains.size() && !node.domains[level].empty();
      tally.name = known ? node.domains[level] : "unknown(" + node.name + ")";
    }
  }
  LargestSet largest{};
  Tally best{};
  for (const auto& entry : whole) {
    if (entry.second.more_than(best)) best = entry.second;
  }
  largest.nodes = best.nodes;
  largest.gpus = best.gpus;
  for (size_t level = 0; level < input.levels.size(); ++level) {
    LevelSet set{.level = input.levels[level]};
    Tally most{};
    for (const auto& entry : by_level[level]) {
      if (entry.second.more_than(most)) most = entry.second;
    }
    for (const auto& entry : by_level[level]) {
      if (most.nodes > 0 && entry.second.as_many_as(most)) set.domains.push_back(entry.second.name);
    }
    set.nodes = most.nodes;
    set.gpus = most.gpus;
    std::sort(set.domains.begin(), set.domains.end());
    largest.levels.push_back(std::move(set));
  }
  return largest;
}

}  // namespace verl::report
