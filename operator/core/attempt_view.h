// What judging an attempt looks at, and the verdict it fills: shared by attempt.cpp (how it ended) and attempt_start.cpp (how far it is).
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "operator/core/attempt.h"

namespace verl::core {

// Null when the pod has no such container, or its kubelet has not reported it yet.
const api::ContainerState* container(const api::Pod& pod, std::string_view name);

class AttemptView {
 public:
  explicit AttemptView(const AttemptInput& of);  // with status.placement; must outlive the view

  const api::Pod* pod_of(const api::RankPlacement& rank) const;  // null: not there
  std::string place(const api::RankPlacement& rank) const;       // "pod a-1-0 on n00"

  // Fills the verdict; true, so that a judgement ends with `return end(…)`.
  bool end(AttemptState state, std::string reason, std::string message);
  // True once `since` + `allowed` has passed; otherwise the verdict says to look again then.
  bool overdue(Timestamp since, Seconds allowed);

  const AttemptInput& input;
  const api::Placement& placement;
  const api::Deadlines& deadlines;
  AttemptVerdict verdict{};

 private:
  std::map<std::string_view, const api::Pod*> pods_{};
};

}  // namespace verl::core
