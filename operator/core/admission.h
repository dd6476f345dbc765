// Decides what is wrong with a job before any node is looked at: faults that waiting does not mend are told from those it may.
#pragma once

#include <optional>
#include <string>

#include "operator/core/model.h"

namespace verl::core {

struct AdmissionProblem {
  std::string reason{};   // InvalidSpec, NotYetSupported, PriorityClassMayPreempt, PriorityClassNotFound, QuotaExceeded, …
  std::string message{};  // names field or object, value seen, value wanted
  bool terminal{false};   // nothing but a change of the spec helps
  bool operator==(const AdmissionProblem&) const = default;
};

// Faults of the spec itself. The CRD refuses most of them at apply; they are checked again because an object may have been
// stored under an older schema or by a client that got round it.
std::optional<AdmissionProblem> spec_problem(const Config& config, const api::VerlJob& job,
                                             const std::vector<std::string>& allowed_host_paths);

// How much memory a pod takes must be said, by the pool's template or by a policy (memoryPerGPU): no amount is safe to guess. While
// there is no policy at all this is no fault yet; the job then waits for one anyway.
std::optional<AdmissionProblem> memory_problem(const ClusterSnapshot& snapshot, const api::VerlJob& job);

// Pods of the gang would preempt other gangs' pods if their class may preempt, so such a class is refused by name.
std::optional<AdmissionProblem> priority_problem(const ClusterSnapshot& snapshot, const api::VerlJob& job);

// The whole gang against every ResourceQuota of the namespace; a dry run of one pod does not see it. `per_pod` are the
// effective requests of each pod of the gang, `promised` those of pods of other gangs that no quota counts yet.
std::optional<AdmissionProblem> quota_problem(const ClusterSnapshot& snapshot, const api::VerlJob& job,
                                              const std::vector<api::Resources>& per_pod, const std::vector<api::Resources>& promised);

std::int32_t priority_of(const ClusterSnapshot& snapshot, const api::VerlJob& job);  // 0 when the class is not known

}  // namespace verl::core
