// Judges the pod that already has the name of one that the operator wants to make: made by an earlier try of ours, left by an
// earlier job of the same name, or a stranger's. Only the last needs somebody to act.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "operator/core/model.h"

namespace verl::controller {

enum class NameHolder {
  Ours,      // owned by this very job: an answer was lost, the pod is there
  Leaving,   // is being deleted, or belongs to a job of this name that is no more, whose pods the garbage collector takes
  Stranger,  // nobody here will ever remove it
  Unknown,   // the answer is no pod
};

// `pod` is the JSON of a GET of that name.
NameHolder judge_holder(std::string_view pod, const api::VerlJob& job);

// Tells the job, by the way of refused dry runs, which pod stands in its way and what to do.
core::DryRun name_taken(std::int64_t job_generation, std::string_view name_space, const std::string& pool, std::string_view pod, Timestamp asked);

}  // namespace verl::controller
