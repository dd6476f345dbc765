#include "operator/core/job_plan.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "operator/core/attempt.h"
#include "operator/core/pod_template.h"
#include "operator/core/rejection.h"

namespace verl::core {
namespace {

constexpr Seconds kAskAgain{60};        // a refused dry run, a full quota, a missing class
constexpr Seconds kRareTries{1800};
constexpr Seconds kLinger{30};          // pods of a finished job end by themselves; then they are deleted
constexpr Seconds kLookAgain{300};      // a waiting job is looked at this often even if nothing changes

constexpr Seconds kCreateWithin{300};   // a placement whose pods cannot be created is given up, so that it holds no nodes

// What the columns may show (the CRD bounds both): an absurd spec is refused by name, its sums must not be refused before.
std::int32_t bounded(std::int64_t value, std::int64_t most) { return static_cast<std::int32_t>(std::clamp<std::int64_t>(value, 0, most)); }

std::int32_t total_nodes(const api::VerlJobSpec& spec) {
  std::int64_t nodes = 0;
  for (const api::Pool& pool : spec.pools) nodes += pool.nodes;
  return bounded(nodes, 8192);
}

std::int32_t total_gpus(const api::VerlJobSpec& spec) {
  std::int64_t gpus = 0;
  for (const api::Pool& pool : spec.pools) gpus = std::min<std::int64_t>(gpus + std::int64_t{pool.nodes} * pool.gpus_per_node, 131072);
  return bounded(gpus, 131072);
}

std::string clock_time(Timestamp t) { return format_rfc3339(t).substr(11, 8); }

std::vector<std::string> host_paths(const ClusterSnapshot& snapshot) {
  std::vector<std::string> all;
  for (const auto& policy : snapshot.policies) {
    all.insert(all.end(), policy->spec.allowed_host_paths.begin(), policy->spec.allowed_host_paths.end());
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

class Planner {
 public:
  explicit Planner(const JobInput& input)
      : in_(input), job_(input.job), now_(input.snapshot.now), status_(input.job.status) {
    out_.plan = Plan{.name_space = job_.meta.name_space, .job = job_.meta.name, .job_uid = job_.meta.uid};
    status_.nodes = total_nodes(job_.spec);
    status_.gpus = total_gpus(job_.spec);
    status_.rejected_nodes = still_rejected(status_.rejected_nodes, now_);
    if (!status_.placement && !job_.status.finished_at) status_.ready = fmt::format("0/{}", status_.nodes);
    if (status_.placement) {
      const std::string attempt = std::to_string(status_.placement->attempt);
      for (const api::Pod* pod : in_.pods) {
        const auto label = pod->meta.labels.find(std::string(api::kAttemptLabel));
        (label != pod->meta.labels.end() && label->second == attempt ? current_ : stale_).push_back(pod);
      }
    } else {
      stale_ = in_.pods;
    }
  }

  JobPlan plan() {
    decide();
    if (status_ != job_.status) {
      const bool announced = job_.status.reason == status_.reason && job_.status.phase == status_.phase;
      if (!announced) {
        out_.plan.actions.emplace_back(EmitEvent{.warning = warning_, .reason = status_.reason, .action = status_.phase.empty() ? "Reconcile" : status_.phase,
                                                 .note = shorten(message_, 1000)});
      }
      out_.plan.status = status_;
    }
    return std::move(out_);
  }

 private:
  void decide() {
    if (job_.status.finished_at) return after_the_end();
    if (job_.spec.suspend) return suspended();
    if (!status_.placement) {
      delete_pods(stale_, "left over from an earlier attempt");
      return queued();
    }
    delete_pods(stale_, "of another attempt");
    if (!in_.withdrawn.empty()) return withdraw("PlacementWithdrawn", in_.withdrawn);
    running_attempt();
  }

  // No pod was made yet: the job goes back to its place in the queue and no restart is counted.
  void withdraw(std::string reason, std::string message) {
    status_.placement.reset();
    status_.head_address.clear();
    settle({.stage = Stage::Waiting, .phase = "Queued", .reason = std::move(reason), .message = std::move(message)});
  }

  void settle(const Situation& situation) {
    message_ = situation.message;
    warning_ = situation.stage == Stage::Failed || situation.stage == Stage::Recovering;
    describe(status_, situation, job_.meta.generation, now_);
  }

  void requeue(std::optional<Timestamp> at) {
    if (!at) return;
    const auto after = std::chrono::ceil<Seconds>(*at - now_);
    const Seconds wait = std::max(after, Seconds{1});
    if (!out_.plan.requeue_after || wait < *out_.plan.requeue_after) out_.plan.requeue_after = wait;
  }

  void delete_pods(const std::vector<const api::Pod*>& pods, const std::string& why) {
    for (const api::Pod* pod : pods) {
      if (pod->meta.deleted) continue;
      out_.plan.actions.emplace_back(DeletePod{.name = pod->meta.name, .uid = pod->meta.uid, .resource_version = pod->meta.resource_version, .why = why});
    }
  }

  void finish(Stage stage, std::string phase, std::string reason, std::string message) {
    status_.finished_at = now_;
    settle({.stage = stage, .phase = std::move(phase), .reason = std::move(reason), .message = std::move(message)});
    requeue(now_ + kLinger);
    if (job_.spec.ttl_after_finished) requeue(now_ + *job_.spec.ttl_after_finished);
  }

  // The end is written before any pod is deleted. Pods that have ended keep their logs until the job goes.
  void after_the_end() {
    const Timestamp end = *job_.status.finished_at;
    // A later change of the spec changes nothing about the end, but who waits for it to be seen shall not wait for ever.
    if (status_.observed_generation != job_.meta.generation) {
      status_.observed_generation = job_.meta.generation;
      for (api::Condition& condition : status_.conditions) condition.observed_generation = job_.meta.generation;
    }
    if (now_ >= end + kLinger) {
      std::vector<const api::Pod*> alive;
      for (const api::Pod* pod : in_.pods) {
        if (pod->phase != "Succeeded" && pod->phase != "Failed") alive.push_back(pod);
      }
      delete_pods(alive, "the job has ended");
    } else if (!in_.pods.empty()) {
      requeue(end + kLinger);
    }
    if (!job_.spec.ttl_after_finished) return;
    const Timestamp expiry = end + *job_.spec.ttl_after_finished;
    if (now_ >= expiry) {
      out_.plan.actions.emplace_back(DeleteJob{.uid = job_.meta.uid, .resource_version = job_.meta.resource_version});
    } else {
      requeue(expiry);
    }
  }

  void suspended() {
    if (status_.placement) {
      status_.placement.reset();  // written first; the pods go in a later round
    } else {
      delete_pods(stale_, "the job is suspended");
    }
    status_.queued_at.reset();
    status_.started_at.reset();
    status_.head_address.clear();
    status_.ready = fmt::format("0/{}", status_.nodes);
    settle({.stage = Stage::Suspended, .phase = "Suspended", .reason = "Suspended",
            .message = stale_.empty() && current_.empty() ? "suspended by spec.suspend; no pod of it is left"
                                                          : "suspended by spec.suspend; its pods are being ended"});
  }

  void wait(std::string reason, std::string message, std::optional<Timestamp> at) {
    const bool again = status_.attempts.started > 0 && status_.attempts.infrastructure_restarts + status_.attempts.user_restarts > 0;
    if (!status_.queued_at) status_.queued_at = now_;
    settle({.stage = again ? Stage::Recovering : Stage::Waiting, .phase = again ? "Recovering" : "Queued", .reason = std::move(reason), .message = std::move(message)});
    warning_ = false;
    requeue(at);
    requeue(now_ + kLookAgain);
  }

  // Waits for somebody to change something, not for nodes.
  void hindered(std::string reason, std::string message, Timestamp again) {
    wait(std::move(reason), std::move(message), again);
    warning_ = true;
  }

  // A volume claim that was missing may be there by now, but each try holds nodes: the pause is as long as it has been tried so far.
  std::optional<Timestamp> claim_looked_for_again(Timestamp since) const {
    const api::Condition* found = api::find_condition(job_.status.conditions, "PlacementFound");
    if (status_.attempts.last_reason != "VolumeClaimNotBound" || found == nullptr) return std::nullopt;
    return found->last_transition + std::clamp(std::chrono::duration_cast<Seconds>(found->last_transition - since), kAskAgain, kRareTries);
  }

  void queued() {
    auto fault = spec_problem(in_.snapshot.config, job_, host_paths(in_.snapshot));
    if (!fault) fault = memory_problem(in_.snapshot, job_);
    if (fault) {
      // Terminal for this generation only: a corrected spec is looked at again.
      return settle({.stage = Stage::Failed, .phase = "Failed", .reason = fault->reason, .message = fault->message});
    }
    if (!status_.queued_at) status_.queued_at = now_;
    // How the last attempt ended says nothing about a spec that was changed since.
    if (job_.status.observed_generation != job_.meta.generation) status_.attempts.last_reason.clear();
    const Timestamp since = *status_.queued_at;
    if (job_.spec.deadlines.queued) {
      const Timestamp deadline = since + *job_.spec.deadlines.queued;
      if (now_ >= deadline) {
        return finish(Stage::Failed, "Failed", "QueuedDeadline",
                      fmt::format("it could not be started within {} s; last reason: {}", job_.spec.deadlines.queued->count(), job_.status.reason));
      }
      requeue(deadline);
    }
    if (!stale_.empty()) return wait("WaitingForPodsToEnd", leftovers() + "; the next attempt starts when they are gone", std::nullopt);
    if (const auto sentence = unreadable_pods()) return hindered("PodUnreadable", *sentence, now_ + kAskAgain);
    if (const auto again = claim_looked_for_again(since); again && now_ < *again) {
      return hindered("VolumeClaimNotBound", job_.status.attempts.last_message, *again);
    }
    if (const auto problem = priority_problem(in_.snapshot, job_)) return hindered(problem->reason, problem->message, now_ + kAskAgain);
    if (!dry_run_passed()) return;
    place(since);
  }

  // What such a pod takes, and where, is not known, so nobody is given nodes beside it.
  std::optional<std::string> unreadable_pods() const {
    const std::vector<std::string>& pods = in_.snapshot.unreadable_pods;
    if (pods.empty()) return std::nullopt;
    return fmt::format("what {} {} of its node cannot be read, so no node is given away while {} there: {}", pods.size() == 1 ? "this pod" : "these pods",
                       pods.size() == 1 ? "takes" : "take", pods.size() == 1 ? "it is" : "they are", join_some(pods, 4));
  }

  // "2 pods of an earlier attempt are still there: a-1-0 on n00, a-1-1 on n01", and what to do about those that overstay.
  std::string leftovers() {
    constexpr Seconds kOverstays{120};  // a kubelet that lives has ended a pod well within this after its grace period
    std::vector<std::string> pods;
    const api::Pod* stuck = nullptr;
    for (const api::Pod* pod : stale_) {
      pods.push_back(pod->node_name.empty() ? pod->meta.name : fmt::format("{} on {}", pod->meta.name, pod->node_name));
      if (!pod->meta.deleted) continue;
      if (now_ < *pod->meta.deleted + kOverstays) {
        requeue(*pod->meta.deleted + kOverstays);
      } else if (stuck == nullptr) {
        stuck = pod;
      }
    }
    std::string text = fmt::format("{} pod{} of an earlier attempt {} still there: {}", pods.size(), pods.size() == 1 ? "" : "s",
                                   pods.size() == 1 ? "is" : "are", join_some(pods, 4));
    if (stuck == nullptr) return text;
    return text + fmt::format(" ({} should have ended at {}: if its node is off for good, kubectl delete node {}; if the node lives, look at its kubelet)",
                              stuck->meta.name, clock_time(*stuck->meta.deleted), stuck->node_name);
  }

  bool dry_run_passed() {
    const auto found = in_.snapshot.dry_runs.find(job_.meta.uid);
    std::vector<const DryRun*> current;
    if (found != in_.snapshot.dry_runs.end()) {
      for (const DryRun& run : found->second) {
        const bool stale = run.job_generation != job_.meta.generation || (!run.allowed && now_ >= run.asked + kAskAgain);
        if (!stale) current.push_back(&run);
      }
    }
    for (const DryRun* run : current) {
      if (run->allowed) continue;
      hindered(run->refusal_reason, run->refusal_message, run->asked + kAskAgain);
      return false;
    }
    if (current.size() < job_.spec.pools.size()) {
      out_.plan.actions.emplace_back(dry_run_pods(in_.snapshot.config, job_, largest_memory_per_gpu(in_.snapshot)));
      // What stood there before stays until the answer is known.
      if (job_.status.conditions.empty() || job_.status.phase.empty()) wait("Checking", "the apiserver is asked whether it would take the pods", std::nullopt);
      return false;
    }
    return true;
  }

  void place(Timestamp since) {
    GangDecision decision = decide_gang(in_.snapshot, in_.ledger, in_.verdicts, job_);
    if (decision.placement) {
      const auto ranks = rank_needs(in_.snapshot, in_.ledger, job_, *decision.placement);
      std::vector<api::Resources> per_pod;
      for (const RankNeeds& rank : ranks) per_pod.push_back(rank.needs.requests);
      if (const auto problem = quota_problem(in_.snapshot, job_, per_pod, in_.ledger.promised_in(job_.meta.name_space))) {
        hindered(problem->reason, problem->message, now_ + kAskAgain);
        decision.placement.reset();
        decision.reason = problem->reason;
        decision.message = problem->message;
      } else {
        // Written down before anything is done: pods are made in a later round that reads this back.
        status_.placement = decision.placement;
        status_.attempts.started = decision.placement->attempt;
        status_.started_at.reset();
        status_.ready = fmt::format("0/{}", status_.nodes);
        const api::RankPlacement& head = decision.placement->ranks.front();
        status_.head_address = fmt::format("{}:{}", head.address, decision.placement->port_base + 1);
        settle({.stage = Stage::Waiting, .phase = "Starting", .reason = "Placed", .message = decision.message, .placed = true});
      }
    } else {
      std::string message = fmt::format("{} Waiting since {}, position {} of the queue.", decision.message, clock_time(since), in_.position);
      wait(decision.reason, std::move(message), decision.next_change);
    }
    out_.decision = std::move(decision);
  }

  void running_attempt() {
    const api::Placement& placement = *status_.placement;
    const bool created = is_true(job_.status, "PodsCreated");
    const AttemptVerdict verdict = judge_attempt({.snapshot = in_.snapshot, .job = job_, .pods = current_, .all_seen = created});
    status_.ready = fmt::format("{}/{}", verdict.running_pods, status_.nodes);
    requeue(verdict.next_deadline);
    const bool all_there = verdict.missing_ranks.empty();
    switch (verdict.state) {
      case AttemptState::Creating: {
        if (!stale_.empty()) {
          return settle({.stage = Stage::Waiting, .phase = "Starting", .reason = "WaitingForPodsToEnd",
                         .message = leftovers() + "; pods are made when they are gone", .placed = true});
        }
        if (const DryRun* refusal = refused_since(placement.decided)) {
          if (current_.empty()) return withdraw(refusal->refusal_reason, refusal->refusal_message);
          // A stranger's pod in the way is no fault of nodes; the next attempt's pods have other names.
          if (refusal->refusal_reason == "PodNameTaken") {
            return next_attempt({.state = AttemptState::Waits, .reason = refusal->refusal_reason, .message = refusal->refusal_message});
          }
          return failed_by_us({.state = AttemptState::FailedByUs, .reason = refusal->refusal_reason, .message = refusal->refusal_message});
        }
        if (current_.empty() && now_ >= placement.decided + kCreateWithin) {
          return withdraw("PodsNotCreated", fmt::format("none of its {} pods could be created within {} s", placement.ranks.size(), kCreateWithin.count()));
        }
        if (const auto sentence = unreadable_pods()) {
          requeue(now_ + kAskAgain);
          return settle({.stage = Stage::Waiting, .phase = "Starting", .reason = "PodUnreadable", .message = *sentence, .placed = true});
        }
        create_pods(placement, verdict);
        return settle({.stage = Stage::Waiting, .phase = "Starting", .reason = verdict.reason, .message = verdict.message, .placed = true});
      }
      case AttemptState::Starting:
        return settle({.stage = Stage::Waiting, .phase = "Starting", .reason = verdict.reason, .message = verdict.message, .placed = true, .pods_created = true});
      case AttemptState::Running:
        if (!status_.started_at) status_.started_at = now_;
        return settle({.stage = Stage::Running, .phase = "Running", .reason = "Running", .message = verdict.message, .placed = true,
                       .pods_created = all_there || created, .ray_ready = true});
      case AttemptState::Ending:
        return settle({.stage = Stage::Waiting, .phase = "Running", .reason = verdict.reason, .message = verdict.message, .placed = true,
                       .pods_created = true, .ray_ready = true});
      case AttemptState::Succeeded:
        status_.exit_code = verdict.exit_code;
        return finish(Stage::Succeeded, "Succeeded", "Succeeded", verdict.message);
      case AttemptState::FailedByUser: return failed_by_user(verdict);
      case AttemptState::FailedByUs: return failed_by_us(verdict);
      case AttemptState::Waits: return next_attempt(verdict);
      case AttemptState::Refused: return finish(Stage::Failed, "Failed", verdict.reason, verdict.message);
    }
  }

  // What the apiserver said when it would not take a pod of this gang, though its dry run had passed.
  const DryRun* refused_since(Timestamp decided) const {
    const auto runs = in_.snapshot.dry_runs.find(job_.meta.uid);
    if (runs == in_.snapshot.dry_runs.end()) return nullptr;
    const auto found = std::find_if(runs->second.begin(), runs->second.end(), [&](const DryRun& run) {
      return !run.allowed && run.job_generation == job_.meta.generation && run.asked >= decided;
    });
    return found == runs->second.end() ? nullptr : &*found;
  }

  void create_pods(const api::Placement& placement, const AttemptVerdict& verdict) {
    std::vector<RankInput> inputs;
    for (const RankNeeds& rank : in_.needs) inputs.push_back(rank.input);
    if (job_.spec.ray_authentication == api::RayAuthentication::Token) {
      out_.plan.actions.emplace_back(CreateSecret{.name = token_secret_name(job_.meta.uid), .manifest = render_token_secret(job_)});
    }
    CreatePods create{};
    for (const std::int32_t rank : verdict.missing_ranks) {
      create.pods.emplace_back(pod_name(job_.meta.name, placement.attempt, rank),
                               render_pod(in_.snapshot.config, job_, placement, inputs, static_cast<size_t>(rank)));
    }
    out_.plan.actions.emplace_back(std::move(create));
  }

  // The attempt's end is written, with the nodes that did not take their pods, before its pods go.
  void next_attempt(const AttemptVerdict& verdict) {
    status_.rejected_nodes = reject(status_.rejected_nodes, verdict.rejected, now_);
    status_.attempts.last_reason = verdict.reason;
    status_.attempts.last_message = shorten(verdict.message, 1024);
    status_.placement.reset();
    status_.started_at.reset();
    status_.head_address.clear();
    status_.ready = fmt::format("0/{}", status_.nodes);
    if (verdict.state != AttemptState::Waits) status_.queued_at = now_;
    settle({.stage = Stage::Recovering, .phase = "Recovering", .reason = verdict.reason,
            .message = fmt::format("attempt {} ended: {}", status_.attempts.started, verdict.message)});
  }

  void failed_by_us(const AttemptVerdict& verdict) {
    const std::int32_t budget = job_.spec.recovery.infrastructure_restarts;
    if (status_.attempts.infrastructure_restarts >= budget) {
      return finish(Stage::Failed, "Failed", verdict.reason,
                    fmt::format("{} (attempt {}; all {} infrastructure restarts are used)", verdict.message, status_.attempts.started, budget));
    }
    ++status_.attempts.infrastructure_restarts;
    next_attempt(verdict);
  }

  void failed_by_user(const AttemptVerdict& verdict) {
    if (status_.attempts.user_restarts >= job_.spec.recovery.user_restarts) {
      status_.exit_code = verdict.exit_code;
      return finish(Stage::Failed, "Failed", verdict.reason, verdict.message);
    }
    ++status_.attempts.user_restarts;
    next_attempt(verdict);
  }

  const JobInput& in_;
  const api::VerlJob& job_;
  Timestamp now_{};
  api::VerlJobStatus status_{};
  std::vector<const api::Pod*> current_{};
  std::vector<const api::Pod*> stale_{};
  std::string message_{};
  bool warning_{false};
  JobPlan out_{};
};

}  // namespace

JobPlan plan_job(const JobInput& input) { return Planner(input).plan(); }

DryRunPods dry_run_pods(const Config& config, const api::VerlJob& job, Bytes memory_per_gpu) {
  DryRunPods asked{};
  for (const api::Pool& pool : job.spec.pools) {
    const PodSize size = nominal_size(pool, memory_per_gpu);
    api::Placement placement{.attempt = 0, .port_base = config.port_first};
    placement.ranks = {{.rank = 0, .pool = pool.name, .node = "dry-run", .address = "0.0.0.0"}};
    const std::vector<RankInput> all{{.rank = placement.ranks[0], .size = size, .environment = {}}};
    asked.pods.emplace_back(pool.name, render_pod(config, job, placement, all, 0));
  }
  return asked;
}

}  // namespace verl::core
