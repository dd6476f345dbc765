// Judges what the apiserver made of a pod in a dry run: refused by whom, or changed in a field the operator relies on.
#pragma once

#include <string>
#include <string_view>

#include "kube/protocol/http.h"
#include "operator/core/model.h"

namespace verl::controller {

// `sent` is the manifest; `reply` the answer to its creation with dryRun=All. Requests are read from the returned object.
core::DryRun judge_dry_run(const std::string& pool, std::int64_t job_generation, std::string_view name_space, std::string_view sent,
                           const kube::Reply& reply, Timestamp asked);

}  // namespace verl::controller
