#include "operator/core/ledger.h"

#include "operator/core/gang.h"

namespace verl::core {

Ledger::Ledger(const ClusterSnapshot& snapshot) : uses_(fit::use_by_node(snapshot.pods)) {}

const fit::NodeUse& Ledger::use(std::string_view node) const {
  static const fit::NodeUse kNone{};
  const auto found = uses_.find(node);
  return found == uses_.end() ? kNone : found->second;
}

const std::vector<api::Resources>& Ledger::promised_in(std::string_view name_space) const {
  static const std::vector<api::Resources> kNone{};
  const auto found = unmade_.find(name_space);
  return found == unmade_.end() ? kNone : found->second;
}

void Ledger::promise(const std::string& name_space, const std::vector<RankNeeds>& ranks, std::span<const api::Pod* const> pods) {
  std::map<std::string_view, const api::Pod*> by_rank;
  for (const api::Pod* pod : pods) {
    const auto label = pod->meta.labels.find(std::string(api::kRankLabel));
    if (label != pod->meta.labels.end()) by_rank.emplace(label->second, pod);
  }
  for (const RankNeeds& rank : ranks) {
    const auto pod = by_rank.find(std::to_string(rank.input.rank.rank));
    if (pod == by_rank.end()) unmade_[name_space].push_back(rank.needs.requests);
    // A pod that waits for the scheduler holds nothing yet: its promise stays.
    const bool holds = pod != by_rank.end() && !(pod->second->node_name.empty() && pod->second->nominated_node.empty());
    if (!holds) fit::add(uses_[rank.input.rank.node], rank.needs.requests, rank.needs.host_ports);
  }
}

JobPods pods_by_owner(const ClusterSnapshot& snapshot) {
  JobPods pods;
  for (const auto& pod : snapshot.pods) {
    if (!pod->owner_uid.empty() && pod->meta.labels.contains(std::string(api::kJobNameLabel))) pods[pod->owner_uid].push_back(pod.get());
  }
  return pods;
}

std::vector<const api::Pod*> owned_pods(const JobPods& pods, const api::VerlJob& job) {
  const auto found = pods.find(job.meta.uid);
  return found == pods.end() ? std::vector<const api::Pod*>{} : found->second;
}

std::vector<const api::Pod*> current_pods(const JobPods& pods, const api::VerlJob& job) {
  std::vector<const api::Pod*> current;
  if (!job.status.placement) return current;
  const std::string attempt = std::to_string(job.status.placement->attempt);
  for (const api::Pod* pod : owned_pods(pods, job)) {
    const auto label = pod->meta.labels.find(std::string(api::kAttemptLabel));
    if (label != pod->meta.labels.end() && label->second == attempt) current.push_back(pod);
  }
  return current;
}

}  // namespace verl::core
