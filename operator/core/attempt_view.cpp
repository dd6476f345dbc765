#include "operator/core/attempt_view.h"

#include <fmt/format.h>

#include <algorithm>

#include "operator/core/pod.h"

namespace verl::core {

const api::ContainerState* container(const api::Pod& pod, std::string_view name) {
  const auto found = std::find_if(pod.containers.begin(), pod.containers.end(),
                                  [&](const api::ContainerState& c) { return !c.init && c.name == name; });
  return found == pod.containers.end() ? nullptr : &*found;
}

AttemptView::AttemptView(const AttemptInput& of) : input(of), placement(*of.job.status.placement), deadlines(of.job.spec.deadlines) {
  for (const api::Pod* pod : input.pods) pods_.emplace(pod->meta.name, pod);
}

const api::Pod* AttemptView::pod_of(const api::RankPlacement& rank) const {
  const auto found = pods_.find(pod_name(input.job.meta.name, placement.attempt, rank.rank));
  return found == pods_.end() ? nullptr : found->second;
}

std::string AttemptView::place(const api::RankPlacement& rank) const {
  return fmt::format("pod {} on {}", pod_name(input.job.meta.name, placement.attempt, rank.rank), rank.node);
}

bool AttemptView::end(AttemptState state, std::string reason, std::string message) {
  verdict.state = state;
  verdict.reason = std::move(reason);
  verdict.message = std::move(message);
  return true;
}

bool AttemptView::overdue(Timestamp since, Seconds allowed) {
  const Timestamp at = since + allowed;
  if (input.snapshot.now >= at) return true;
  if (!verdict.next_deadline || at < *verdict.next_deadline) verdict.next_deadline = at;
  return false;
}

}  // namespace verl::core
