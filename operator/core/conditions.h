// Writes the conditions of a job from the one situation it is in, so that they can never contradict each other.
// What they mean to `kubectl wait`, kstatus and GitOps health checks is the table in docs/conditions.md.
#pragma once

#include <string>

#include "operator/core/model.h"

namespace verl::core {

enum class Stage {
  Waiting,     // queued, placing, starting: Reconciling
  Running,
  Recovering,  // an attempt has ended and the next one is prepared
  Suspended,
  Succeeded,
  Failed,      // for good: Stalled
};

struct Situation {
  Stage stage{Stage::Waiting};
  std::string phase{};    // the STATUS column
  std::string reason{};   // the REASON column and the reason of Ready
  std::string message{};  // the message of Ready
  bool placed{false};
  bool pods_created{false};
  bool ray_ready{false};
  bool operator==(const Situation&) const = default;
};

// Sets phase, reason, observedGeneration and every condition; the first visit writes all types.
void describe(api::VerlJobStatus& status, const Situation& situation, std::int64_t generation, Timestamp now);

bool is_true(const api::VerlJobStatus& status, std::string_view type);

}  // namespace verl::core
