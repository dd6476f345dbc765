#include "operator/core/attempt.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/text.h"
#include "operator/core/attempt_start.h"
#include "operator/core/attempt_view.h"
#include "operator/core/by_name.h"
#include "operator/core/pod.h"
#include "operator/core/reason.h"

namespace verl::core {
namespace {

using api::ContainerState;
using api::Pod;
using api::RankPlacement;

// {"verl.run/gate": REASON, "message": TEXT} with a REASON that our scripts write; anything else is no word of ours. The file
// can be written by whatever runs in the container, so a reason that nobody knows must not reach a condition.
struct Word {
  std::string reason{};
  std::string message{};
};

constexpr std::array<std::string_view, 8> kGateReasons{"Passed", "RayUnauthenticated", "NodesMissing", "RayUnreachable", "GateMisconfigured",
                                                       "RayTokenRejected", "TrainerNotExecutable", "Interrupted"};
constexpr std::array<std::string_view, 3> kRayReasons{"ContainerUnfit", "HeadUnreachable", "NodeMisconfigured"};
constexpr size_t kLongestMessage = 16384;  // the kubelet keeps 4096 bytes

template <size_t N>
Word word_of(const std::string& termination_message, const char* key, const std::array<std::string_view, N>& known) {
  if (termination_message.size() > kLongestMessage) return {};
  const auto document = nlohmann::json::parse(termination_message, nullptr, false);
  if (!document.is_object()) return {};
  const auto text = [&](const char* field) {
    const auto found = document.find(field);
    return found != document.end() && found->is_string() ? escape_controls(found->get<std::string>()) : std::string();
  };
  Word word{text(key), text("message")};
  if (std::find(known.begin(), known.end(), word.reason) == known.end()) return {};
  return word;
}

// A trainer that is told to stop may save its state and end with 0: that is no success.
bool told_to_stop(const Pod& pod, const ContainerState& driver) {
  constexpr Seconds kGrace{30};  // Kubernetes' default; deletionTimestamp lies that far behind the request
  const api::Condition* disrupted = api::find_condition(pod.conditions, "DisruptionTarget");
  if (disrupted != nullptr && disrupted->status == api::ConditionStatus::True) {
    return !driver.finished_at || disrupted->last_transition <= *driver.finished_at;
  }
  return pod.meta.deleted && driver.finished_at && *driver.finished_at > *pod.meta.deleted - kGrace;
}

// Reasons by which the kubelet or the control plane ends a pod through no fault of what runs in it.
bool ended_by_others(const Pod& pod) {
  constexpr std::array<std::string_view, 12> kReasons{"UnexpectedAdmissionError", "TopologyAffinityError", "SMTAlignmentError", "NodeAffinity",
                                                      "NodeLost", "Terminated", "NodeShutdown", "Shutdown", "Evicted", "Preempting", "NodePorts",
                                                      "AdmissionError"};
  if (pod.reason.starts_with("OutOf")) return true;
  if (std::find(kReasons.begin(), kReasons.end(), pod.reason) != kReasons.end()) return true;
  const api::Condition* disrupted = api::find_condition(pod.conditions, "DisruptionTarget");
  return disrupted != nullptr && disrupted->status == api::ConditionStatus::True;
}

std::string why_ended(const Pod& pod) {
  const api::Condition* disrupted = api::find_condition(pod.conditions, "DisruptionTarget");
  std::string reason = !pod.reason.empty() ? pod.reason : disrupted != nullptr ? disrupted->reason : "Failed";
  std::string message = !pod.message.empty() ? pod.message : disrupted != nullptr ? disrupted->message : "";
  return message.empty() ? reason : reason + ": " + shorten(escape_controls(message), 300);
}

// The kubelet's words are not all words of ours: it says "OutOfnvidia.com/gpu".
std::string reason_of(const Pod& pod, std::string_view otherwise) { return as_reason(pod.reason, otherwise); }

class Judge final : private AttemptView {
 public:
  using AttemptView::AttemptView;

  AttemptVerdict judge() {
    if (auto fault = placement_fault(placement)) {
      end(AttemptState::FailedByUs, "PlacementMalformed", *fault);
      return verdict;
    }
    for (const RankPlacement& rank : placement.ranks) {
      const Pod* pod = pod_of(rank);
      if (pod == nullptr) verdict.missing_ranks.push_back(rank.rank);
      const ContainerState* ray = pod == nullptr ? nullptr : container(*pod, "ray");
      if (ray != nullptr && ray->running) ++verdict.running_pods;
    }
    find_lost_ranks();
    if (driver_ended() || pods_ended() || ray_ended()) return verdict;
    if (!verdict.missing_ranks.empty()) return creating_or_vanished();
    // What once ran is not judged by the deadlines of starting: a probe that fails or a sidecar that waits ends no training.
    if (!input.job.status.started_at && judge_start(*this)) return verdict;
    return running();
  }

 private:
  void find_lost_ranks() {
    for (const RankPlacement& rank : placement.ranks) {
      const auto why = lost(rank, find_by_name(input.snapshot.nodes, rank.node));
      if (why) lost_.push_back({rank.node, *why});
    }
  }

  bool end_lost() {
    for (const auto& [node, why] : lost_) verdict.rejected.push_back({node, "NodeLost"});
    std::vector<std::string> sentences;
    for (const auto& [node, why] : lost_) sentences.push_back(why);
    return end(AttemptState::FailedByUs, "NodeLost", join_some(sentences, 4));
  }

  bool driver_ended() {
    const RankPlacement& head_rank = placement.ranks.front();
    const Pod* head = pod_of(head_rank);
    const ContainerState* driver = head == nullptr ? nullptr : container(*head, "driver");
    if (driver == nullptr || !driver->exit_code) return !lost_.empty() && end_lost();
    const std::int32_t code = *driver->exit_code;
    const Word gate = word_of(driver->termination_message, "verl.run/gate", kGateReasons);
    if (gate.reason == "Passed" && code == 0 && !told_to_stop(*head, *driver)) {
      verdict.exit_code = 0;
      return end(AttemptState::Succeeded, "Succeeded", "the trainer ended with exit code 0");
    }
    if (!lost_.empty()) return end_lost();
    if (ended_by_others(*head) || head->meta.deleted) {
      verdict.rejected.push_back({head_rank.node, reason_of(*head, "PodDisrupted")});
      return end(AttemptState::FailedByUs, "HeadDisrupted", fmt::format("{} was ended: {}", place(head_rank), why_ended(*head)));
    }
    if (gate.reason == "Passed") {
      if (const RankPlacement* rank = disrupted_rank()) {
        const Pod& pod = *pod_of(*rank);
        verdict.rejected.push_back({rank->node, reason_of(pod, "PodDisrupted")});
        return end(AttemptState::FailedByUs, "PodDisrupted",
                   fmt::format("{} was ended, and the trainer with it (exit code {}): {}", place(*rank), code, why_ended(pod)));
      }
      if (const RankPlacement* rank = ray_ended_before(*driver)) {
        verdict.rejected.push_back({rank->node, "RayEnded"});
        return end(AttemptState::FailedByUs, "RayEnded",
                   fmt::format("Ray ended in {} before the trainer did (exit code {})", place(*rank), code));
      }
      if (const auto unheard = unheard_since(*driver)) {
        return end(AttemptState::Ending, "TrainerEnded",
                   fmt::format("the trainer ended with exit code {}; {} has not been heard of since, so whether its node died is not known yet", code, *unheard));
      }
      verdict.exit_code = code;
      const std::string how = driver->terminated_reason == "OOMKilled" ? "was killed for memory (OOMKilled)" : fmt::format("ended with exit code {}", code);
      return end(AttemptState::FailedByUser, driver->terminated_reason == "OOMKilled" ? "TrainerOutOfMemory" : "TrainerFailed",
                 fmt::format("the trainer {}; kubectl logs -n {} {} -c driver", how, input.job.meta.name_space,
                             pod_name(input.job.meta.name, placement.attempt, 0)));
    }
    if (gate.reason == "NodesMissing" || gate.reason == "RayUnreachable" || gate.reason == "Interrupted") {
      for (const RankPlacement& rank : placement.ranks) {
        if (gate.message.find(fmt::format("rank {} {} (", rank.rank, rank.node)) != std::string::npos) {
          verdict.rejected.push_back({rank.node, "NotInRay"});
        }
      }
      return end(AttemptState::FailedByUs, gate.reason, gate.message);
    }
    if (!gate.reason.empty()) return end(AttemptState::Refused, gate.reason, gate.message);
    return end(AttemptState::FailedByUs, "DriverEndedEarly",
               fmt::format("container driver of {} ended with exit code {} before the trainer was started{}", place(head_rank), code,
                           driver->terminated_reason.empty() ? "" : " (" + driver->terminated_reason + ")"));
  }

  // A node that dies takes the trainer with it long before the control plane calls the node lost. So the trainer is blamed when
  // every node's agent was heard of after its end, or after a minute. The name of a node that was not; nothing: blame.
  std::optional<std::string> unheard_since(const ContainerState& driver) {
    constexpr Seconds kLost{60};  // the control plane taints a silent node within this time
    constexpr Seconds kSoon{5};
    const Timestamp now = input.snapshot.now;
    if (!driver.finished_at || *driver.finished_at > now || !input.snapshot.heartbeats_known || overdue(*driver.finished_at, kLost)) return std::nullopt;
    for (const RankPlacement& rank : placement.ranks) {
      const auto age = input.snapshot.heartbeat_age.find(rank.node);
      if (age != input.snapshot.heartbeat_age.end() && now - age->second > *driver.finished_at) continue;
      static_cast<void>(overdue(now, kSoon));
      return fmt::format("the agent of {}", rank.node);
    }
    return std::nullopt;
  }

  // The first rank whose pod others have ended or are ending: the trainer's exit code then says nothing about the trainer.
  const RankPlacement* disrupted_rank() const {
    const auto found = std::find_if(placement.ranks.begin(), placement.ranks.end(), [&](const RankPlacement& rank) {
      const Pod* pod = pod_of(rank);
      return pod != nullptr && (pod->meta.deleted || ended_by_others(*pod));
    });
    return found == placement.ranks.end() ? nullptr : &*found;
  }

  // The first rank whose Ray was gone before the driver was: without its cluster a trainer can only fail.
  const RankPlacement* ray_ended_before(const ContainerState& driver) const {
    for (const RankPlacement& rank : placement.ranks) {
      const Pod* pod = pod_of(rank);
      if (pod == nullptr) return &rank;
      const ContainerState* ray = container(*pod, "ray");
      if (ray == nullptr || !ray->exit_code || !ray->finished_at || !driver.finished_at) continue;
      if (*ray->finished_at < *driver.finished_at) return &rank;
    }
    return nullptr;
  }

  // "; container fetch ended with exit code 1": an init container that failed fails its pod before Ray was started.
  static std::string failed_init(const Pod& pod) {
    const auto found = std::find_if(pod.containers.begin(), pod.containers.end(),
                                    [](const ContainerState& c) { return c.init && c.exit_code.value_or(0) != 0; });
    if (found == pod.containers.end()) return "";
    const std::string words = shorten(escape_controls(found->termination_message), 300);
    return fmt::format("; init container {} ended with exit code {}{}", found->name, *found->exit_code, words.empty() ? "" : ": " + words);
  }

  bool pods_ended() {
    for (const RankPlacement& rank : placement.ranks) {
      const Pod* pod = pod_of(rank);
      if (pod == nullptr) continue;
      if (pod->meta.deleted) {
        verdict.rejected.push_back({rank.node, "PodDeleted"});
        return end(AttemptState::FailedByUs, "PodDeleted", fmt::format("{} is being deleted by somebody else: {}", place(rank), why_ended(*pod)));
      }
      const ContainerState* ray = container(*pod, "ray");
      const bool ray_says = ray != nullptr && ray->exit_code && !ended_by_others(*pod);  // told in ray_ended, with its exit code
      if (pod->phase == "Failed" && !ray_says) {
        verdict.rejected.push_back({rank.node, reason_of(*pod, "PodFailed")});
        return end(AttemptState::FailedByUs, reason_of(*pod, "PodFailed"), fmt::format("{}: {}{}", place(rank), why_ended(*pod), failed_init(*pod)));
      }
    }
    return false;
  }

  bool ray_ended() {
    for (const RankPlacement& rank : placement.ranks) {
      const Pod* pod = pod_of(rank);
      const ContainerState* ray = pod == nullptr ? nullptr : container(*pod, "ray");
      if (ray == nullptr || !ray->exit_code) continue;
      const Word said = word_of(ray->termination_message, "verl.run/ray", kRayReasons);
      verdict.rejected.push_back({rank.node, said.reason.empty() ? "RayEnded" : said.reason});
      const std::string detail = !said.message.empty() ? said.message : ray->terminated_reason;
      const std::string sentence = fmt::format("Ray ended in {} with exit code {}{}", place(rank), *ray->exit_code, detail.empty() ? "" : ": " + detail);
      if (said.reason == "NodeMisconfigured") return end(AttemptState::Refused, said.reason, sentence);
      return end(AttemptState::FailedByUs, said.reason.empty() ? "RayEnded" : said.reason, sentence);
    }
    return false;
  }

  AttemptVerdict creating_or_vanished() {
    const RankPlacement& rank = placement.ranks[static_cast<size_t>(verdict.missing_ranks.front())];
    if (input.all_seen) {
      verdict.rejected.push_back({rank.node, "PodVanished"});
      end(AttemptState::FailedByUs, "PodVanished", fmt::format("{} was there and is gone", place(rank)));
      return verdict;
    }
    Timestamp first = input.snapshot.now;
    for (const Pod* pod : input.pods) first = std::min(first, pod->meta.created);
    if (!input.pods.empty() && overdue(first, deadlines.bind)) {
      end(AttemptState::FailedByUs, "PodsNotCreated", fmt::format("{} of {} pods could be created within {} s; {} could not", input.pods.size(),
                                                                  placement.ranks.size(), deadlines.bind.count(), place(rank)));
    } else {
      end(AttemptState::Creating, "CreatingPods", fmt::format("{} of {} pods exist", input.pods.size(), placement.ranks.size()));
    }
    return verdict;
  }

  AttemptVerdict running() {
    const ContainerState* driver = container(*pod_of(placement.ranks.front()), "driver");
    if (driver != nullptr) verdict.driver_started = driver->started_at;
    if (deadlines.running && input.job.status.started_at && overdue(*input.job.status.started_at, *deadlines.running)) {
      end(AttemptState::Refused, "RunningDeadline", fmt::format("the trainer ran for more than {} s", deadlines.running->count()));
      return verdict;
    }
    end(AttemptState::Running, "Running", fmt::format("the trainer runs on {} node{}", placement.ranks.size(), placement.ranks.size() == 1 ? "" : "s"));
    return verdict;
  }

  std::vector<std::pair<std::string, std::string>> lost_{};  // node, why
};

}  // namespace

std::optional<std::string> placement_fault(const api::Placement& placement) {
  if (placement.ranks.empty()) return "status.placement has no ranks";
  if (placement.port_base < 1 || placement.port_base > 65520) return fmt::format("status.placement.portBase is {}, wants 1 to 65520", placement.port_base);
  std::set<std::string_view> nodes;
  for (size_t i = 0; i < placement.ranks.size(); ++i) {
    const RankPlacement& rank = placement.ranks[i];
    if (rank.rank != static_cast<std::int32_t>(i)) return fmt::format("status.placement.ranks[{}] is rank {}, wants {}", i, rank.rank, i);
    if (!nodes.insert(rank.node).second) return fmt::format("status.placement.ranks[{}]: node {} has two ranks", i, rank.node);
  }
  return std::nullopt;
}

std::optional<std::string> lost(const api::RankPlacement& rank, const api::Node* node) {
  if (node == nullptr) return fmt::format("node {} is gone", rank.node);
  if (!node->unreadable.empty() && node->boot_id.empty()) return std::nullopt;  // not knowing is no loss; nor does it admit anything
  if (node->meta.uid != rank.node_uid) return fmt::format("node {} was deleted and made again under the same name", rank.node);
  if (node->boot_id != rank.boot_id) return fmt::format("node {} has rebooted", rank.node);
  if (node->ready != api::ConditionStatus::True) {
    const bool unreachable = std::any_of(node->taints.begin(), node->taints.end(), [](const api::Taint& t) {
      return t.key == "node.kubernetes.io/unreachable" || t.key == "node.kubernetes.io/out-of-service";
    });
    if (unreachable) return fmt::format("node {} is unreachable", rank.node);
  }
  return std::nullopt;
}

AttemptVerdict judge_attempt(const AttemptInput& input) { return Judge(input).judge(); }

}  // namespace verl::core
