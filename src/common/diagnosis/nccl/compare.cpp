#include "diagnosis/nccl/compare.h"

#include <algorithm>
#include <set>

namespace verl::nccl {
namespace {

using Value = std::optional<std::string>;

Value value_on(const std::vector<Setting>& settings, const std::string& name) {
  const auto found = std::find_if(settings.begin(), settings.end(), [&](const Setting& one) { return one.name == name; });
  return found == settings.end() ? Value{} : Value{found->value};
}

// Nodes that share a value which must differ everywhere.
std::vector<DeviatingNode> not_distinct(const std::map<Value, std::vector<std::string>>& by_value) {
  std::vector<DeviatingNode> nodes;
  for (const auto& [value, names] : by_value) {
    if (!value || names.size() < 2) continue;
    for (const std::string& name : names) nodes.push_back({.node = name, .value = value});
  }
  std::sort(nodes.begin(), nodes.end(), [](const DeviatingNode& a, const DeviatingNode& b) { return a.node < b.node; });
  return nodes;
}

}  // namespace

std::vector<Deviation> compare_nccl_settings(const SettingsByNode& nodes) {
  std::set<std::string> names;
  for (const auto& [node, settings] : nodes) {
    for (const Setting& setting : settings) names.insert(setting.name);
  }
  std::vector<Deviation> deviations;
  for (const std::string& name : names) {
    const Match match = match_of(name);
    if (match == Match::PerNode || match == Match::Local || match == Match::Ineffective) continue;
    std::map<Value, std::vector<std::string>> by_value;
    for (const auto& [node, settings] : nodes) by_value[value_on(settings, name)].push_back(node);
    Deviation deviation{.name = name, .match = match, .tie = false, .majority = {}, .nodes = {}};
    if (match == Match::Distinct) {
      deviation.nodes = not_distinct(by_value);
      if (!deviation.nodes.empty()) deviations.push_back(std::move(deviation));
      continue;
    }
    if (by_value.size() < 2) continue;
    const auto larger = [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); };
    const auto most = std::max_element(by_value.begin(), by_value.end(), larger);
    const size_t size = most->second.size();
    deviation.tie = std::count_if(by_value.begin(), by_value.end(), [&](const auto& one) { return one.second.size() == size; }) > 1;
    if (!deviation.tie) deviation.majority = most->first;
    for (const auto& [value, who] : by_value) {
      if (!deviation.tie && value == most->first) continue;
      for (const std::string& node : who) deviation.nodes.push_back({.node = node, .value = value});
    }
    std::sort(deviation.nodes.begin(), deviation.nodes.end(),
              [](const DeviatingNode& a, const DeviatingNode& b) { return a.node < b.node; });
    deviations.push_back(std::move(deviation));
  }
  return deviations;
}

}  // namespace verl::nccl
