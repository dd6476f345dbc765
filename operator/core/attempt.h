// Judges the pods of the running attempt: is it starting, running, done, and if it ended badly, whose fault it was.
// The outcome of a job is the exit code of container `driver` in the head pod alone, and only beside the gate's word that
// the trainer had started. What follows from the verdict is decided in reconcile.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "operator/core/model.h"

namespace verl::core {

enum class AttemptState {
  Creating,         // pods are missing and none has been seen yet: create them
  Starting,         // pods are being bound, pulled, started, or Ray is forming
  Running,          // the trainer runs
  Ending,           // the trainer ended badly, and whether a node died under it is not known yet
  Succeeded,        // the trainer ended with 0
  FailedByUser,     // the trainer ended with another code
  FailedByUs,       // infrastructure: nodes, pods, Ray, deadlines
  Waits,            // something the job itself names is missing (a volume claim): it gives its nodes back and costs no restart
  Refused,          // trying again is useless: the image or the job's settings are at fault
};

struct NodeFault {
  std::string node{};
  std::string reason{};
  bool operator==(const NodeFault&) const = default;
};

struct AttemptVerdict {
  AttemptState state{AttemptState::Creating};
  std::string reason{};   // CamelCase, a section of docs/conditions.md
  std::string message{};  // names pod, node, value seen, value wanted
  std::vector<NodeFault> rejected{};  // nodes that did not take their pod
  std::optional<std::int32_t> exit_code{};
  std::vector<std::int32_t> missing_ranks{};  // without a pod
  std::int32_t running_pods{0};               // whose ray container runs
  std::optional<Timestamp> driver_started{};
  std::optional<Timestamp> next_deadline{};   // when to look again although nothing changes
  bool operator==(const AttemptVerdict&) const = default;
};

struct AttemptInput {
  const ClusterSnapshot& snapshot;
  const api::VerlJob& job;                // with status.placement
  std::vector<const api::Pod*> pods{};    // owned by the job and of the placement's attempt
  bool all_seen{false};                   // all pods of this attempt existed at some time before
};

AttemptVerdict judge_attempt(const AttemptInput& input);

// What makes a placement unusable: no ranks, no port block, ranks that are not 0, 1, 2 … in this order, a node twice. Nothing: it is sound.
std::optional<std::string> placement_fault(const api::Placement& placement);

// A node's identity has changed or is gone since the placement: its rank is lost whatever its pod's phase says.
// One sentence, or nothing.
std::optional<std::string> lost(const api::RankPlacement& rank, const api::Node* node);

}  // namespace verl::core
