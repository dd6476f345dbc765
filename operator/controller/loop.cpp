#include "operator/controller/loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "operator/snapshot/assemble.h"

namespace verl::controller {
namespace {

using namespace std::chrono_literals;

// Changes come in bursts (a gang's pods are bound one by one); one round answers them all.
constexpr auto kBurst = 50ms;
// Heartbeats grow old without an event, so nothing may be left alone for longer than this.
constexpr Seconds kLongest{10};

}  // namespace

void Loop::wake() {
  {
    const std::lock_guard lock(mutex_);
    dirty_ = true;
  }
  changed_.notify_all();
}

void Loop::run(kube::Instant acquired, std::stop_token stop) {
  if (!wait_until_fresh(acquired, stop)) return;
  if (parts_.on_filled) parts_.on_filled();
  while (!stop.stop_requested()) {
    round(stop);
    wait(stop);
  }
}

// An earlier leader may have written a placement that this process has not seen: planning now could give its GPUs away.
bool Loop::wait_until_fresh(kube::Instant acquired, const std::stop_token& stop) {
  parts_.caches.refresh();
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    lock.unlock();
    const bool fresh = parts_.caches.synced() && parts_.caches.fresh_since(acquired) && parts_.time.now().has_value();
    lock.lock();
    if (fresh) return true;
    dirty_ = false;
    changed_.wait_for(lock, stop, 500ms, [&] { return dirty_; });
  }
  return false;
}

void Loop::wait(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  if (failures_ > 0) {
    // Changes do not cut this short: what the apiserver refused is not asked again at the rate of events.
    changed_.wait_for(lock, stop, pause_after(failures_), [] { return false; });
    return;
  }
  changed_.wait_for(lock, stop, next_look_, [&] { return dirty_; });
  changed_.wait_for(lock, stop, kBurst, [] { return false; });
}

void Loop::round(const std::stop_token& stop) {
  {
    const std::lock_guard lock(mutex_);
    dirty_ = false;
  }
  next_look_ = kLongest;
  const auto now = parts_.time.now();
  if (!now || !parts_.may_write()) return;
  core::ClusterSnapshot view = parts_.caches.snapshot();
  view.now = std::chrono::floor<Seconds>(*now);  // as the API's own times
  view.config = parts_.config;
  snapshot::complete(view);
  view.dry_runs = parts_.executor.dry_runs(view);
  view.unseen = parts_.executor.unseen(view);
  parts_.executor.set_now(view.now);

  const auto began = parts_.clock.steady();
  const core::Round round = core::plan_round(view);
  measure(view, round);
  parts_.metrics.observe("verl_placement_duration_seconds", "Time one round of decisions took.", {},
                         std::chrono::duration<double>(parts_.clock.steady() - began).count());

  bool unavailable = false;
  bool asked = false;
  std::map<std::string_view, const api::VerlJob*> jobs;
  for (const auto& job : view.jobs) jobs.emplace(job->meta.uid, job.get());
  for (const core::Plan& plan : round.plans) {
    if (stop.stop_requested()) return;
    if (plan.requeue_after) next_look_ = std::min(next_look_, *plan.requeue_after);
    if (plan.actions.empty() && !plan.status) continue;
    if (must_wait(plan.job_uid, began)) continue;
    const Written written = parts_.executor.run(plan, *jobs.at(plan.job_uid), stop);
    remember(plan.job_uid, written);
    if (!written.failed) tell(plan);
    unavailable = unavailable || written.unavailable;
    for (const core::Action& action : plan.actions) asked = asked || (!written.failed && std::holds_alternative<core::DryRunPods>(action));
    parts_.metrics.add("controller_runtime_reconcile_total", "Reconciles by result.",
                       {{"controller", "verljob"}, {"result", written.failed ? "error" : plan.requeue_after ? "requeue_after" : "success"}});
  }
  // One report that is refused again and again must not slow those of other nodes, nor be written at the rate of events.
  if (!round.reports.empty() && !stop.stop_requested() && began >= reports_again_) {
    const Written written = parts_.executor.run(round.reports, view, stop);
    if (written.failed) {
      reports_again_ = parts_.clock.steady() + pause_after(1);
      next_look_ = std::min(next_look_, pause_after(1));
    }
    unavailable = unavailable || written.unavailable;
  }
  backoff_.keep_only([&](const std::string& uid) { return jobs.contains(uid); });
  // A dry run's answer is in no cache: look again at once. An apiserver that does not answer gets a growing pause.
  if (asked) next_look_ = Seconds{0};
  failures_ = unavailable ? std::min(failures_ + 1, 5) : 0;
}

// What a job's events say, for those who read the operator's log.
void Loop::tell(const core::Plan& plan) const {
  if (!parts_.log) return;
  for (const core::Action& action : plan.actions) {
    if (const auto* event = std::get_if<core::EmitEvent>(&action)) parts_.log(fmt::format("job {}/{}: {}: {}", plan.name_space, plan.job, event->reason, event->note));
    if (const auto* pods = std::get_if<core::CreatePods>(&action)) parts_.log(fmt::format("job {}/{}: made {} pods", plan.name_space, plan.job, pods->pods.size()));
    if (const auto* pod = std::get_if<core::DeletePod>(&action)) parts_.log(fmt::format("job {}/{}: deleted pod {}: {}", plan.name_space, plan.job, pod->name, pod->why));
  }
}

bool Loop::must_wait(const std::string& job_uid, kube::Instant now) {
  const auto left = backoff_.left(job_uid, now);
  if (left <= left.zero()) return false;
  next_look_ = std::min(next_look_, std::chrono::ceil<Seconds>(left));
  return true;
}

void Loop::remember(const std::string& job_uid, const Written& written) {
  if (!written.failed) return backoff_.went_well(job_uid);
  backoff_.failed(job_uid, parts_.clock.steady());
  next_look_ = std::min(next_look_, pause_after(1));
}

void Loop::measure(const core::ClusterSnapshot& snapshot, const core::Round& round) {
  std::map<std::string, double> nodes{{"Ready", 0}, {"NotReady", 0}, {"Unknown", 0}};
  for (const auto& [name, verdict] : round.verdicts) nodes[std::string(core::to_string(verdict.word))] += 1;
  for (const auto& [state, count] : nodes) parts_.metrics.set("verl_nodes", "Nodes by readiness.", {{"state", state}}, count);
  std::map<std::string, double> phases;
  for (const auto& job : snapshot.jobs) phases[job->status.phase.empty() ? "New" : job->status.phase] += 1;
  for (const char* phase : {"New", "Queued", "Starting", "Running", "Recovering", "Suspended", "Succeeded", "Failed"}) {
    parts_.metrics.set("verl_jobs", "VerlJobs by phase.", {{"phase", phase}}, phases[phase]);
  }
}

}  // namespace verl::controller
