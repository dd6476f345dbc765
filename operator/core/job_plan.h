// What to do about one job, given the ledger in which everybody before it in the queue has been written down.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "operator/core/admission.h"
#include "operator/core/conditions.h"
#include "operator/core/gang.h"

namespace verl::core {

struct JobInput {
  const ClusterSnapshot& snapshot;
  const api::VerlJob& job;
  const Ledger& ledger;
  const Verdicts& verdicts;
  std::vector<const api::Pod*> pods{};  // all that the job owns
  std::vector<RankNeeds> needs{};       // of its placement, reckoned before it was entered into the ledger itself
  std::string withdrawn{};              // why the placement may not get its pods; empty: it may
  std::int32_t position{0};             // in the queue, from 1; 0 when it does not wait
};

struct JobPlan {
  Plan plan{};
  std::optional<GangDecision> decision{};  // when the job was looked at for placing
};

JobPlan plan_job(const JobInput& input);

// One rendered pod of each pool for the apiserver's dry run, on no node in particular.
DryRunPods dry_run_pods(const Config& config, const api::VerlJob& job, Bytes memory_per_gpu);

}  // namespace verl::core
