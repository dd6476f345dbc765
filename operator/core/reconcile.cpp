#include "operator/core/reconcile.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "operator/core/job_plan.h"

namespace verl::core {
namespace {

bool ours(const api::VerlJob& job) { return job.spec.managed_by == "verl.run/verl-operator"; }

}  // namespace

std::vector<const api::VerlJob*> queue_order(const ClusterSnapshot& snapshot) {
  std::vector<std::pair<std::int32_t, const api::VerlJob*>> jobs;
  for (const auto& job : snapshot.jobs) {
    if (ours(*job)) jobs.emplace_back(priority_of(snapshot, *job), job.get());
  }
  std::sort(jobs.begin(), jobs.end(), [](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first > b.first;
    if (a.second->meta.created != b.second->meta.created) return a.second->meta.created < b.second->meta.created;
    return a.second->meta.uid < b.second->meta.uid;
  });
  std::vector<const api::VerlJob*> order;
  for (const auto& job : jobs) order.push_back(job.second);
  return order;
}

Round plan_round(const ClusterSnapshot& snapshot) {
  Round round{};
  round.verdicts = judge_nodes(snapshot);
  round.reports = plan_reports(snapshot, round.verdicts);
  Ledger ledger(snapshot);
  const JobPods pods_of = pods_by_owner(snapshot);
  const auto order = queue_order(snapshot);

  // What was sent last and is not seen yet may hold or not: its nodes are nobody else's until that is known.
  for (const api::VerlJob* job : order) {
    const auto sent = snapshot.unseen.find(job->meta.uid);
    if (sent == snapshot.unseen.end() || !snapshot.held.contains(job->meta.uid)) continue;
    if (job->status.placement && job->status.placement->attempt == sent->second.attempt) continue;  // promised below
    ledger.promise(job->meta.name_space, rank_needs(snapshot, ledger, *job, sent->second), {});
  }

  // First what is certain: pods are in the ledger already, the rest of a gang that has some pods, or may have them, belongs to it.
  std::map<std::string_view, std::string> withdrawn;  // job UID → why
  std::map<std::string_view, std::vector<RankNeeds>> needs;
  for (const bool certain : {true, false}) {
    for (const api::VerlJob* job : order) {
      if (!job->status.placement || job->status.finished_at || job->meta.deleted) continue;
      const bool may_have_pods = !current_pods(pods_of, *job).empty() || is_true(job->status, "PodsCreated") || snapshot.held.contains(job->meta.uid);
      if (may_have_pods != certain) continue;
      if (!certain) {
        // Two placements may overlap when a leader wrote the later one from an old view; the later in queue order gives way.
        std::string problem = placement_problem(snapshot, ledger, round.verdicts, *job);
        if (!problem.empty()) {
          withdrawn.emplace(job->meta.uid, std::move(problem));
          continue;
        }
      }
      std::vector<RankNeeds> ranks = rank_needs(snapshot, ledger, *job, *job->status.placement);
      ledger.promise(job->meta.name_space, ranks, current_pods(pods_of, *job));
      needs.emplace(job->meta.uid, std::move(ranks));
    }
  }

  std::int32_t position = 0;
  for (const api::VerlJob* job : order) {
    if (job->meta.deleted) continue;
    const auto gone = withdrawn.find(job->meta.uid);
    JobInput input{.snapshot = snapshot, .job = *job, .ledger = ledger, .verdicts = round.verdicts, .pods = owned_pods(pods_of, *job),
                   .needs = {}, .withdrawn = gone == withdrawn.end() ? "" : gone->second};
    if (const auto found = needs.find(job->meta.uid); found != needs.end()) input.needs = std::move(found->second);
    const bool waits = !job->status.placement && !job->status.finished_at && !job->spec.suspend;
    input.position = waits ? ++position : 0;
    const bool held = snapshot.held.contains(job->meta.uid);
    if (held && snapshot.unseen.contains(job->meta.uid)) continue;
    JobPlan planned = plan_job(input);
    if (planned.decision) {
      if (planned.decision->placement) {
        ledger.promise(job->meta.name_space, rank_needs(snapshot, ledger, *job, *planned.decision->placement), {});
      }
      round.decisions.emplace(job->meta.uid, std::move(*planned.decision));
    }
    const Plan& plan = planned.plan;
    const bool something = !plan.actions.empty() || plan.status || plan.requeue_after;
    // A held job is not acted on, but keeps its place: what it would be given is not given to those behind it.
    if (something && !held) round.plans.push_back(std::move(planned.plan));
  }
  return round;
}

Plan reconcile(const ClusterSnapshot& snapshot, const api::VerlJob& job) {
  for (Plan& plan : plan_round(snapshot).plans) {
    if (plan.job_uid == job.meta.uid) return std::move(plan);
  }
  return Plan{.name_space = job.meta.name_space, .job = job.meta.name, .job_uid = job.meta.uid};
}

}  // namespace verl::core
