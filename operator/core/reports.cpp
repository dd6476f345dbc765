#include "operator/core/reports.h"

#include <algorithm>
#include <set>

namespace verl::core {
namespace {

// Nodes that hold a rank of some placement: their agents are asked to renew more often.
std::set<std::string, std::less<>> busy_nodes(const ClusterSnapshot& snapshot) {
  std::set<std::string, std::less<>> busy;
  for (const auto& job : snapshot.jobs) {
    if (!job->status.placement || job->status.finished_at) continue;
    for (const api::RankPlacement& rank : job->status.placement->ranks) busy.insert(rank.node);
  }
  return busy;
}

api::ConditionStatus status_of(NodeWord word) {
  if (word == NodeWord::Ready) return api::ConditionStatus::True;
  return word == NodeWord::NotReady ? api::ConditionStatus::False : api::ConditionStatus::Unknown;
}

}  // namespace

api::NodeReadinessSpec report_spec(const ClusterSnapshot& snapshot, const api::Node& node) {
  // As many as the CRD's column takes: a node that offers its GPUs in slices would otherwise have no report at all.
  api::NodeReadinessSpec spec{.node_uid = node.meta.uid, .address = node.internal_ip,
                              .gpus = static_cast<std::int32_t>(std::clamp<std::int64_t>(gpus_of(node, snapshot.config.gpu_resource), 0, 64))};
  for (const Level& level : snapshot.config.levels) {
    const auto label = node.meta.labels.find(level.key);
    if (label != node.meta.labels.end() && !label->second.empty()) spec.domains.push_back({.level = level.name, .domain = label->second});
  }
  const PolicyChoice choice = choose_policy(snapshot.policies, node, snapshot.config.gpu_resource);
  if (choice.policy == nullptr) return spec;
  spec.policy = choice.policy->meta.name;
  spec.policy_generation = choice.policy->meta.generation;
  spec.expectations = choice.policy->spec.expectations;
  return spec;
}

std::vector<ReportAction> plan_reports(const ClusterSnapshot& snapshot, const std::map<std::string, NodeVerdict, std::less<>>& verdicts) {
  std::vector<ReportAction> actions;
  std::map<std::string_view, const api::NodeReadiness*> reports;
  for (const auto& report : snapshot.reports) reports.emplace(report->meta.name, report.get());
  std::map<std::string_view, const api::Heartbeat*> heartbeats;
  for (const auto& heartbeat : snapshot.heartbeats) heartbeats.emplace(heartbeat->meta.name, heartbeat.get());
  const auto busy = busy_nodes(snapshot);

  std::set<std::string, std::less<>> wanted;
  for (const auto& node : snapshot.nodes) {
    const std::string& name = node->meta.name;
    const auto verdict = verdicts.find(name);
    if (verdict == verdicts.end() || node->meta.deleted) continue;
    wanted.insert(name);
    if (!node->unreadable.empty() && node->boot_id.empty()) continue;  // what cannot be read is left as it is
    const Seconds renewal = busy.contains(name) ? snapshot.config.renewal_busy : snapshot.config.renewal_idle;
    const auto heartbeat = heartbeats.find(name);
    if (heartbeat == heartbeats.end()) {
      actions.emplace_back(CreateHeartbeat{.node = name, .node_uid = node->meta.uid, .renewal = renewal});
    } else if (heartbeat->second->duration != 3 * renewal) {
      actions.emplace_back(SetRenewal{.node = name, .renewal = renewal});
    }

    const api::NodeReadinessSpec spec = report_spec(snapshot, *node);
    const auto found = reports.find(name);
    if (found == reports.end()) {
      actions.emplace_back(CreateReport{.node = name, .node_uid = node->meta.uid, .spec = spec});
      continue;
    }
    const api::NodeReadiness& report = *found->second;
    if (report.meta.deleted) continue;
    if (report.spec.node_uid != node->meta.uid) {
      // The UID in a report never changes: a node made again under the same name gets a report of its own.
      actions.emplace_back(DeleteReport{.node = name, .uid = report.meta.uid, .resource_version = report.meta.resource_version});
      continue;
    }
    if (report.spec != spec) {
      actions.emplace_back(UpdateReportSpec{.node = name, .resource_version = report.meta.resource_version, .spec = spec});
    }
    api::Condition ready{.type = "Ready", .status = status_of(verdict->second.word), .reason = verdict->second.reason,
                         .message = verdict->second.message, .last_transition = snapshot.now, .observed_generation = report.meta.generation};
    const api::Condition* old = api::find_condition(report.status.conditions, "Ready");
    if (old != nullptr && old->status == ready.status) ready.last_transition = old->last_transition;
    const std::string word(to_string(verdict->second.word));
    if (old == nullptr || *old != ready || report.status.verdict != word) {
      actions.emplace_back(WriteVerdict{.node = name, .verdict = word, .ready = ready});
    }
  }
  for (const auto& report : snapshot.reports) {
    if (wanted.contains(report->meta.name) || report->meta.deleted) continue;
    actions.emplace_back(DeleteReport{.node = report->meta.name, .uid = report->meta.uid, .resource_version = report->meta.resource_version});
  }
  for (const auto& heartbeat : snapshot.heartbeats) {
    if (wanted.contains(heartbeat->meta.name) || heartbeat->meta.deleted) continue;
    actions.emplace_back(DeleteHeartbeat{.node = heartbeat->meta.name, .uid = heartbeat->meta.uid});
  }
  return actions;
}

}  // namespace verl::core
