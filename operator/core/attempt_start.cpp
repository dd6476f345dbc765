#include "operator/core/attempt_start.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "operator/core/pod.h"
#include "operator/core/reason.h"

namespace verl::core {
namespace {

using api::ContainerState;
using api::Pod;
using api::RankPlacement;

// The scheduler's words about the pod's own claims (missing, being deleted, unbound, bound to nothing). That a node offers no volume
// to bind, or one elsewhere, is that node's matter: another may have it.
bool is_about_a_claim(const std::string& why) {
  constexpr std::array<std::string_view, 3> kWords{"persistentvolumeclaim", "unbound immediate PersistentVolumeClaims", "bound to non-existent pv"};
  return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view words) { return why.find(words) != std::string::npos; });
}

bool unbound(AttemptView& view) {
  std::vector<std::string> waiting;
  std::string late_sentence;
  std::string claim_sentence;
  std::string first;
  for (const RankPlacement& rank : view.placement.ranks) {
    const Pod& pod = *view.pod_of(rank);
    if (!pod.node_name.empty()) continue;
    waiting.push_back(rank.node);
    const api::Condition* scheduled = api::find_condition(pod.conditions, "PodScheduled");
    const std::string why = scheduled == nullptr || scheduled->message.empty() ? "the scheduler has said nothing yet" : scheduled->message;
    const std::string words = shorten(escape_controls(why), 300);
    if (first.empty() && scheduled != nullptr && !scheduled->message.empty()) first = ": " + words;
    if (!view.overdue(pod.meta.created, view.deadlines.bind)) continue;
    const std::string sentence = fmt::format("{} was not bound within {} s: {}", view.place(rank), view.deadlines.bind.count(), words);
    if (is_about_a_claim(why)) {
      if (claim_sentence.empty()) claim_sentence = sentence;
      continue;
    }
    view.verdict.rejected.push_back({rank.node, "NotBound"});
    if (late_sentence.empty()) late_sentence = sentence;
  }
  if (!late_sentence.empty()) return view.end(AttemptState::FailedByUs, "NotBound", late_sentence);
  // No node is at fault where a claim is, and no other node would do better.
  if (!claim_sentence.empty()) return view.end(AttemptState::Waits, "VolumeClaimNotBound", claim_sentence);
  return !waiting.empty() &&
         view.end(AttemptState::Starting, "Binding", fmt::format("waits for the scheduler to bind pods on {}{}", join_some(waiting, 8), first));
}

bool not_started(AttemptView& view) {
  std::string sentence;
  std::vector<std::string> waiting;
  for (const RankPlacement& rank : view.placement.ranks) {
    const Pod& pod = *view.pod_of(rank);
    for (const ContainerState& c : pod.containers) {
      if (c.started) continue;
      const std::string detail = shorten(escape_controls(c.waiting_message), 300);
      const std::string line = fmt::format("{}: container {} {}{}", view.place(rank), c.name, c.waiting_reason.empty() ? "not started" : c.waiting_reason,
                                           detail.empty() ? "" : ": " + detail);
      if (c.waiting_reason == "InvalidImageName") return view.end(AttemptState::Refused, c.waiting_reason, line);
      if (sentence.empty() || (c.waiting_reason != "ContainerCreating" && c.waiting_reason != "PodInitializing")) sentence = line;
      waiting.push_back(rank.node);
      if (view.overdue(pod.meta.created, view.deadlines.image_pull)) {
        view.verdict.rejected.push_back({rank.node, as_reason(c.waiting_reason, "NotStarted")});
        return view.end(AttemptState::FailedByUs, c.waiting_reason.starts_with("ErrImage") || c.waiting_reason == "ImagePullBackOff" ? "ImagePullDeadline" : "NotStarted",
                   fmt::format("{} (for more than {} s)", line, view.deadlines.image_pull.count()));
      }
      break;
    }
    if (pod.containers.empty()) {
      waiting.push_back(rank.node);
      if (sentence.empty()) sentence = fmt::format("{}: the kubelet has not reported yet", view.place(rank));
      if (view.overdue(pod.meta.created, view.deadlines.image_pull)) {
        view.verdict.rejected.push_back({rank.node, "NotStarted"});
        return view.end(AttemptState::FailedByUs, "NotStarted", sentence);
      }
    }
  }
  return !waiting.empty() && view.end(AttemptState::Starting, "PodsStarting", sentence);
}

// Ranks whose Ray is not alive in the cluster. Without the head none can be, so then the head alone is at fault.
std::vector<const RankPlacement*> not_in_ray(const AttemptView& view) {
  std::vector<const RankPlacement*> absent;
  for (const RankPlacement& rank : view.placement.ranks) {
    const ContainerState* ray = container(*view.pod_of(rank), "ray");
    if (ray != nullptr && ray->ready) continue;
    absent.push_back(&rank);
    if (rank.rank == 0) break;
  }
  return absent;
}

// All containers have started; the gate in the driver decides whether the Ray cluster is whole.
bool not_whole(AttemptView& view) {
  const ContainerState* driver = container(*view.pod_of(view.placement.ranks.front()), "driver");
  if (driver != nullptr && driver->ready) return false;
  Timestamp last{};
  for (const Pod* pod : view.input.pods) {
    for (const ContainerState& c : pod->containers) {
      if (c.started_at) last = std::max(last, *c.started_at);
    }
  }
  const std::vector<const RankPlacement*> absent = not_in_ray(view);
  std::vector<std::string> names;
  for (const RankPlacement* rank : absent) names.push_back(fmt::format("rank {} on {}", rank->rank, rank->node));
  if (last != Timestamp{} && view.overdue(last, view.deadlines.starting)) {
    for (const RankPlacement* rank : absent) view.verdict.rejected.push_back({rank->node, "NotInRay"});
    return view.end(AttemptState::FailedByUs, "StartingDeadline",
               fmt::format("the Ray cluster was not whole {} s after the last container started: {}", view.deadlines.starting.count(),
                           names.empty() ? "every node's Ray is alive, but the driver's check of the cluster did not pass"
                                         : join_some(names, 8) + " did not join"));
  }
  return view.end(AttemptState::Starting, "RayStarting",
             names.empty() ? "every node is in Ray; the driver checks the cluster" : fmt::format("waits for Ray on {}", join_some(names, 8)));
}

}  // namespace

bool judge_start(AttemptView& view) { return unbound(view) || not_started(view) || not_whole(view); }

}  // namespace verl::core
