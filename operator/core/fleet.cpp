#include "operator/core/fleet.h"

#include <fmt/format.h>

#include "diagnosis/nccl/compare.h"
#include "operator/core/readiness.h"

namespace verl::core {
namespace {

std::string shown(const std::optional<std::string>& value) { return value ? *value : "not set"; }

Finding finding_of(const nccl::Deviation& deviation, const nccl::DeviatingNode& node) {
  Finding finding{.check = "nccl-env", .subject = deviation.name, .seen = shown(node.value)};
  const bool must = deviation.match == nccl::Match::Equal;
  if (deviation.tie) {
    finding.verdict = must ? Verdict::Unknown : Verdict::Warn;
    finding.wanted = "one value on all nodes of the policy";
    finding.message = "no value has the most nodes, so it cannot be said which is the right one";
    finding.remedy = fmt::format("set {} to one value on all nodes, for example in /etc/nccl.conf", deviation.name);
    return finding;
  }
  finding.verdict = must ? Verdict::Fail : Verdict::Warn;
  finding.wanted = shown(deviation.majority);
  finding.message = must ? "ranks decide with this setting on their own; different values hang or corrupt collectives"
                         : "different values work, unevenly";
  finding.remedy = deviation.majority ? fmt::format("set {}={} in /etc/nccl.conf, as on the other nodes", deviation.name, *deviation.majority)
                                      : fmt::format("remove {} from /etc/nccl.conf, as on the other nodes", deviation.name);
  return finding;
}

}  // namespace

std::map<std::string, std::vector<Finding>, std::less<>> compare_fleet(const ClusterSnapshot& snapshot) {
  std::map<std::string_view, const api::Node*> nodes;
  for (const auto& node : snapshot.nodes) nodes.emplace(node->meta.name, node.get());
  std::map<std::string, nccl::SettingsByNode> by_policy;
  for (const auto& report : snapshot.reports) {
    const auto node = nodes.find(report->meta.name);
    if (node == nodes.end()) continue;
    const PolicyChoice choice = choose_policy(snapshot.policies, *node->second, snapshot.config.gpu_resource);
    if (choice.policy == nullptr || disbelieved(snapshot, *node->second, *report, *choice.policy)) continue;
    std::vector<nccl::Setting>& settings = by_policy[choice.policy->meta.name][report->meta.name];
    for (const api::NcclSetting& setting : report->status.nccl) settings.push_back({.name = setting.name, .value = setting.value});
  }
  std::map<std::string, std::vector<Finding>, std::less<>> findings;
  for (const auto& [policy, settings] : by_policy) {
    for (const nccl::Deviation& deviation : nccl::compare_nccl_settings(settings)) {
      if (deviation.match == nccl::Match::Distinct) continue;
      for (const nccl::DeviatingNode& node : deviation.nodes) findings[node.node].push_back(finding_of(deviation, node));
    }
  }
  return findings;
}

}  // namespace verl::core
