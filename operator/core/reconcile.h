// The decision core: one snapshot in, one plan per job out. No I/O, no clock, no threads.
// All jobs are decided together, in queue order, over one ledger: two jobs can never be given the same GPUs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "operator/core/gang.h"
#include "operator/core/model.h"
#include "operator/core/reports.h"

namespace verl::core {

struct Round {
  std::vector<Plan> plans{};  // of jobs for which there is something to do or to wait for, in queue order
  std::vector<ReportAction> reports{};
  Verdicts verdicts{};
  std::map<std::string, GangDecision, std::less<>> decisions{};  // by job UID, for jobs that were looked at for placing
};

// Queue order: priority (highest first), creation, UID. Jobs behind one that waits may go ahead where nodes are free.
std::vector<const api::VerlJob*> queue_order(const ClusterSnapshot& snapshot);

Round plan_round(const ClusterSnapshot& snapshot);

// The plan of one job within its round; an empty plan when there is nothing to do.
Plan reconcile(const ClusterSnapshot& snapshot, const api::VerlJob& job);

}  // namespace verl::core
