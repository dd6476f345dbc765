#include "operator/controller/executor.h"

#include <fmt/format.h>

#include <atomic>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "base/text.h"
#include "codec/encode.h"
#include "kube/protocol/api_status.h"
#include "kube/protocol/base64.h"
#include "kube/protocol/kinds.h"
#include "kube/protocol/owner.h"
#include "kube/protocol/verbs.h"
#include "operator/controller/dry_run.h"
#include "operator/controller/name_holder.h"

namespace verl::controller {
namespace {

using nlohmann::json;
using namespace nlohmann::literals;
using namespace kube::kinds;

constexpr const char* kManager = "verl-operator";
constexpr const char* kStatusManager = "verl-operator-status";

std::string node_reference(const std::string& node, const std::string& uid) {
  return json{{"apiVersion", "v1"}, {"kind", "Node"}, {"name", node}, {"uid", uid}}.dump();
}

// Server-side apply leaves a field that somebody else wrote too (a restored backup, kubectl edit): a placement that was withdrawn
// would stand for ever. The patch that takes such fields of the status away; empty when there are none.
std::string left_by_others(const std::string& sent, const std::string& answer) {
  json wanted = json::parse(sent, nullptr, false);
  const json there = json::parse(answer, nullptr, false);
  const auto status = there.is_object() ? there.find("status") : there.end();
  if (!wanted.is_object() || status == there.end() || !status->is_object()) return "";
  json gone = json::object();
  for (const char* field : {"placement", "rejectedNodes", "headAddress", "queuedAt", "startedAt", "finishedAt", "exitCode"}) {
    if (status->contains(field) && !wanted["status"].contains(field)) gone[field] = nullptr;
  }
  if (gone.empty()) return "";
  return json{{"metadata", {{"resourceVersion", there.value("/metadata/resourceVersion"_json_pointer, "")}}}, {"status", gone}}.dump();
}

// Too busy, or not there behind a proxy: the next request fares no better. A 500 may concern one namespace alone, whose webhook is down.
bool nobody_is_served(int http_status) { return http_status == 429 || (http_status >= 502 && http_status <= 504); }

// Runs `work(i)` for i in [0, count) on at most `width` threads and returns when all are done.
template <class Work>
void in_parallel(std::size_t count, int width, Work work) {
  std::atomic<std::size_t> next{0};
  const auto loop = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  const std::size_t threads = std::min<std::size_t>(count, static_cast<std::size_t>(std::max(width, 1)));
  if (threads <= 1) return loop();
  std::vector<std::jthread> pool;
  for (std::size_t i = 0; i < threads; ++i) pool.emplace_back(loop);
}

}  // namespace

// The writes of one plan. Thread-safe, for pods are created in parallel.
class Executor::Writer {
 public:
  Writer(Executor& owner, std::stop_token stop) : owner_(owner), parts_(owner.parts_), stop_(std::move(stop)) {}

  Written written(bool done) const { return {.writes = writes_, .failed = !done, .unavailable = unavailable_}; }

  // The reply when the apiserver took it. Nothing when it did not: what it said has been logged.
  enum class Outcome { Taken, Conflict, Gone, Refused, Unknown };
  struct Answer {
    Outcome outcome{Outcome::Unknown};
    kube::Reply reply{};
    kube::ApiStatus status{};
  };

  // `may_exist`: that the object is there already is an answer like any other, and nothing to tell.
  Answer write(const kube::Request& request, const std::string& what, bool may_exist = false) {
    if (!parts_.may_write()) return {};
    auto reply = parts_.api.send(request, stop_);
    if (!reply) {
      unavailable_ = true;
      say(fmt::format("{}: {}", what, reply.error().message));
      return {};
    }
    Answer answer{.outcome = Outcome::Taken, .reply = std::move(*reply)};
    if (kube::is_success(answer.reply)) {
      ++writes_;
      return answer;
    }
    answer.status = kube::decode_status(answer.reply);
    answer.outcome = answer.status.code == 409 ? Outcome::Conflict
                     : answer.status.code == 404 ? Outcome::Gone
                     : answer.status.code == 403 || answer.status.code == 422 || answer.status.code == 400 ? Outcome::Refused
                                                                                                           : Outcome::Unknown;
    unavailable_ = unavailable_ || nobody_is_served(answer.status.code);
    const bool expected = answer.outcome == Outcome::Gone || (may_exist && kube::is_already_exists(answer.status));
    if (!expected) say(fmt::format("{}: {}", what, kube::summary(answer.status)));
    return answer;
  }

  void say(const std::string& line) const {
    if (parts_.log) parts_.log(line);
  }

  // ---- one action each; true when it is done

  bool dry_run(const core::DryRunPods& action, const api::VerlJob& job) {
    std::vector<core::DryRun> runs;
    for (const auto& [pool, manifest] : action.pods) {
      if (!parts_.may_write()) return false;
      const auto request = kube::create_request({.resource = kPods, .name_space = job.meta.name_space}, manifest, {.field_manager = kManager, .dry_run = true});
      const auto reply = parts_.api.send(request, stop_);
      if (!reply || reply->status >= 500 || reply->status == 429) {
        unavailable_ = unavailable_ || !reply || nobody_is_served(reply->status);
        say(fmt::format("dry run of a pod of {}/{}: {}", job.meta.name_space, job.meta.name, reply ? fmt::format("HTTP {}", reply->status) : reply.error().message));
        return false;
      }
      runs.push_back(judge_dry_run(pool, job.meta.generation, job.meta.name_space, manifest, *reply, owner_.now_));
    }
    owner_.dry_runs_[job.meta.uid] = std::move(runs);
    return true;
  }

  bool create_secret(const core::CreateSecret& action, const api::VerlJob& job) {
    json secret = json::parse(action.manifest);
    secret["data"] = {{"auth_token", kube::encode_base64(parts_.key.token(job.meta.uid))}};
    const Answer answer = write(kube::create_request({.resource = kSecrets, .name_space = job.meta.name_space}, secret.dump(), {.field_manager = kManager}),
                                fmt::format("creating secret {}/{}", job.meta.name_space, action.name), true);
    // Its name holds the job's UID and its content is computed from it, so one that is there already is the same one.
    return answer.outcome == Outcome::Taken || (answer.outcome == Outcome::Conflict && kube::is_already_exists(answer.status));
  }

  bool create_pods(const core::CreatePods& action, const api::VerlJob& job) {
    std::atomic<bool> all{true};
    std::mutex refusal_lock;
    std::optional<core::DryRun> refusal;
    in_parallel(action.pods.size(), parts_.parallel_creates, [&](std::size_t i) {
      if (refused_.load()) return;
      const auto& [name, manifest] = action.pods[i];
      const std::string what = fmt::format("creating pod {}/{}", job.meta.name_space, name);
      const kube::ObjectKey key{job.meta.name_space, name};
      const Answer answer = write(kube::create_request({.resource = kPods, .name_space = job.meta.name_space}, manifest, {.field_manager = kManager}), what);
      if (answer.outcome == Outcome::Taken) {
        if (const auto made = kube::decode_written(answer.reply.body)) parts_.caches.pods().expect(key, made->uid, made->resource_version);
        return;
      }
      const NameHolder holder = answer.outcome == Outcome::Conflict ? holder_of(key, job) : NameHolder::Unknown;
      if (holder == NameHolder::Ours) return;
      all = false;
      if (answer.outcome == Outcome::Refused || holder == NameHolder::Stranger) {
        // Quota or admission changed its mind in the middle of the gang, or one name is taken: the attempt ends at once.
        refused_ = true;
        const std::lock_guard lock(refusal_lock);
        refusal = holder == NameHolder::Stranger
                      ? name_taken(job.meta.generation, job.meta.name_space, "", name, owner_.now_)
                      : core::DryRun{.job_generation = job.meta.generation, .asked = owner_.now_, .refusal_reason = "PodRefused",
                                     .refusal_message = shorten(escape_controls(fmt::format("{}: {}", what, kube::summary(answer.status))), 1500)};
      }
    });
    if (refusal) owner_.dry_runs_[job.meta.uid] = {*refusal};
    return all;
  }

  bool delete_pod(const core::DeletePod& action, const api::VerlJob& job) {
    const kube::ObjectKey key{job.meta.name_space, action.name};
    const Answer answer = write(kube::delete_request({.resource = kPods, .name_space = job.meta.name_space, .name = action.name},
                                                     {.uid = action.uid, .resource_version = action.resource_version}),
                                fmt::format("deleting pod {}/{} ({})", job.meta.name_space, action.name, action.why));
    if (answer.outcome == Outcome::Gone) return true;
    if (answer.outcome != Outcome::Taken) return false;
    // The answer is the pod with its deletionTimestamp, or a Status when it went at once.
    const auto left = kube::decode_written(answer.reply.body);
    if (left && !left->resource_version.empty()) {
      parts_.caches.pods().expect(key, left->uid, left->resource_version);
    } else {
      parts_.caches.pods().expect_gone(key, action.uid);
    }
    return true;
  }

  bool delete_job(const core::DeleteJob& action, const api::VerlJob& job) {
    const Answer answer = write(kube::delete_request({.resource = kVerlJobs, .name_space = job.meta.name_space, .name = job.meta.name},
                                                     {.uid = action.uid, .resource_version = action.resource_version, .propagation = "Background"}),
                                fmt::format("deleting job {}/{} after its time to live", job.meta.name_space, job.meta.name));
    return answer.outcome == Outcome::Taken || answer.outcome == Outcome::Gone;
  }

  bool write_status(const api::VerlJobStatus& status, const api::VerlJob& job) {
    const kube::ObjectKey key{job.meta.name_space, job.meta.name};
    const std::string body = codec::encode_status(job.meta, status);
    const kube::Target where{.resource = kVerlJobs, .name_space = key.name_space, .name = key.name, .subresource = "status"};
    const std::string what = fmt::format("writing the status of {}/{}", key.name_space, key.name);
    // Remembered before it is sent: should the answer be lost, its nodes count as taken until the cache shows what became of it.
    if (status.placement && status.placement != job.status.placement) owner_.unseen_[job.meta.uid] = *status.placement;
    const auto sent = [&](const kube::Request& request) {
      Answer answer = write(request, what);
      if (answer.outcome == Outcome::Taken) {
        if (const auto written = kube::decode_written(answer.reply.body)) parts_.caches.jobs().expect(key, written->uid, written->resource_version);
      } else if (answer.outcome == Outcome::Unknown && answer.reply.status != 429) {
        // No answer, or one like 504 that leaves open whether the write was done.
        parts_.caches.jobs().expect_unknown(key);
      }
      return answer;
    };
    const Answer applied = sent(kube::apply_request(where, body, {.field_manager = kStatusManager, .force = true}));
    if (applied.outcome != Outcome::Taken) return false;
    const std::string rest = left_by_others(body, applied.reply.body);
    return rest.empty() || sent(kube::merge_patch_request(where, rest, {.field_manager = kStatusManager})).outcome == Outcome::Taken;
  }

  bool report(const core::ReportAction& action, const core::ClusterSnapshot& snapshot) {
    return std::visit([&](const auto& one) { return perform(one, snapshot); }, action);
  }

 private:
  NameHolder holder_of(const kube::ObjectKey& key, const api::VerlJob& job) {
    const auto reply = parts_.api.send(kube::get_request({.resource = kPods, .name_space = key.name_space, .name = key.name}), stop_);
    if (!reply || !kube::is_success(*reply)) return NameHolder::Unknown;
    const NameHolder holder = judge_holder(reply->body, job);
    if (holder == NameHolder::Leaving) say(fmt::format("pod {} is of an earlier job of this name; waiting until it is gone", kube::to_string(key)));
    if (holder != NameHolder::Ours) return holder;
    const auto there = kube::decode_written(reply->body);
    if (!there) return NameHolder::Unknown;
    parts_.caches.pods().expect(key, there->uid, there->resource_version);
    return holder;
  }

  bool apply_report(const std::string& node, const std::string& body, const char* subresource, const char* manager) {
    const kube::ObjectKey key{"", node};
    const Answer answer = write(kube::apply_request({.resource = kReports, .name_space = {}, .name = node, .subresource = subresource}, body,
                                                    {.field_manager = manager, .force = true}),
                                fmt::format("writing the report of {}", node));
    if (answer.outcome != Outcome::Taken) return false;
    if (const auto written = kube::decode_written(answer.reply.body)) parts_.caches.reports().expect(key, written->uid, written->resource_version);
    return true;
  }

  bool perform(const core::CreateReport& action, const core::ClusterSnapshot&) {
    api::NodeReadiness report{.spec = action.spec};
    report.meta.name = action.node;
    return apply_report(action.node, codec::encode_spec(report, action.node_uid), "", kManager);
  }
  bool perform(const core::UpdateReportSpec& action, const core::ClusterSnapshot&) {
    api::NodeReadiness report{.spec = action.spec};
    report.meta.name = action.node;
    report.meta.resource_version = action.resource_version;
    return apply_report(action.node, codec::encode_spec(report, action.spec.node_uid), "", kManager);
  }
  bool perform(const core::WriteVerdict& action, const core::ClusterSnapshot&) {
    api::Meta meta{.name = action.node};
    api::NodeReadinessStatus status{.verdict = action.verdict, .conditions = {action.ready}};
    return apply_report(action.node, codec::encode_operator_status(meta, status), "status", kStatusManager);
  }
  bool perform(const core::DeleteReport& action, const core::ClusterSnapshot&) {
    return remove(kReports, "", action.node, action.uid, "report");
  }
  bool perform(const core::DeleteHeartbeat& action, const core::ClusterSnapshot&) {
    return remove(kLeases, parts_.name_space, action.node, action.uid, "heartbeat");
  }
  bool perform(const core::CreateHeartbeat& action, const core::ClusterSnapshot&) {
    json lease{{"apiVersion", "coordination.k8s.io/v1"},
               {"kind", "Lease"},
               {"metadata",
                {{"name", action.node},
                 {"namespace", parts_.name_space},
                 {"labels", {{"app.kubernetes.io/name", "verl-operator"}, {"app.kubernetes.io/component", "heartbeat"}, {"app.kubernetes.io/managed-by", "verl-operator"}}},
                 {"ownerReferences", json::array({json::parse(node_reference(action.node, action.node_uid))})}}},
               {"spec", {{"leaseDurationSeconds", (3 * action.renewal).count()}}}};
    const Answer answer = write(kube::create_request({.resource = kLeases, .name_space = parts_.name_space}, lease.dump(), {.field_manager = kManager}),
                                fmt::format("creating the heartbeat of {}", action.node));
    if (answer.outcome == Outcome::Conflict) return kube::is_already_exists(answer.status);
    return expect_heartbeat(answer, action.node);
  }
  bool perform(const core::SetRenewal& action, const core::ClusterSnapshot&) {
    const json patch{{"spec", {{"leaseDurationSeconds", (3 * action.renewal).count()}}}};
    const Answer answer = write(kube::merge_patch_request({.resource = kLeases, .name_space = parts_.name_space, .name = action.node}, patch.dump(),
                                                          {.field_manager = kManager}),
                                fmt::format("setting how often {} renews", action.node));
    return expect_heartbeat(answer, action.node);
  }

  bool expect_heartbeat(const Answer& answer, const std::string& node) {
    if (answer.outcome != Outcome::Taken) return answer.outcome == Outcome::Gone;
    if (const auto written = kube::decode_written(answer.reply.body)) {
      parts_.caches.heartbeats().expect({parts_.name_space, node}, written->uid, written->resource_version);
    }
    return true;
  }

  bool remove(const kube::Resource& resource, const std::string& name_space, const std::string& name, const std::string& uid, const char* what) {
    const Answer answer = write(kube::delete_request({.resource = resource, .name_space = name_space, .name = name}, {.uid = uid}),
                                fmt::format("deleting the {} of {}", what, name));
    return answer.outcome == Outcome::Taken || answer.outcome == Outcome::Gone || answer.outcome == Outcome::Conflict;
  }

  Executor& owner_;
  Parts& parts_;
  std::stop_token stop_;
  std::atomic<int> writes_{0};
  std::atomic<bool> refused_{false};
  std::atomic<bool> unavailable_{false};
};

Written Executor::run(const core::Plan& plan, const api::VerlJob& job, std::stop_token stop) {
  Writer writer(*this, std::move(stop));
  bool done = true;
  for (const core::Action& action : plan.actions) {
    if (!done) break;
    if (const auto* dry = std::get_if<core::DryRunPods>(&action)) done = writer.dry_run(*dry, job);
    if (const auto* secret = std::get_if<core::CreateSecret>(&action)) done = writer.create_secret(*secret, job);
    if (const auto* pods = std::get_if<core::CreatePods>(&action)) done = writer.create_pods(*pods, job);
    if (const auto* pod = std::get_if<core::DeletePod>(&action)) done = writer.delete_pod(*pod, job);
    if (const auto* gone = std::get_if<core::DeleteJob>(&action)) done = writer.delete_job(*gone, job);
  }
  if (done && plan.status) done = writer.write_status(*plan.status, job);
  if (done) {
    for (const core::Action& action : plan.actions) {
      const auto* event = std::get_if<core::EmitEvent>(&action);
      if (event == nullptr) continue;
      const auto attempt = plan.status ? plan.status->attempts.started : job.status.attempts.started;
      parts_.events.record({.regarding = {.api_version = "verl.run/v1alpha1", .kind = "VerlJob", .name_space = job.meta.name_space, .name = job.meta.name, .uid = job.meta.uid},
                            .related = std::nullopt,
                            .type = event->warning ? kube::EventType::Warning : kube::EventType::Normal,
                            .reason = event->reason,
                            .action = event->action,
                            .note = event->note,
                            .occasion = fmt::format("{}-{}", job.meta.generation, attempt)});
    }
  }
  return writer.written(done);
}

Written Executor::run(const std::vector<core::ReportAction>& actions, const core::ClusterSnapshot& snapshot, std::stop_token stop) {
  Writer writer(*this, std::move(stop));
  std::atomic<bool> all{true};
  in_parallel(actions.size(), parts_.parallel_creates, [&](std::size_t i) {
    if (!writer.report(actions[i], snapshot)) all = false;
  });
  return writer.written(all);
}

std::map<std::string, api::Placement, std::less<>> Executor::unseen(const core::ClusterSnapshot& snapshot) {
  std::erase_if(unseen_, [&](const auto& entry) { return !snapshot.held.contains(entry.first); });
  return unseen_;
}

std::map<std::string, std::vector<core::DryRun>, std::less<>> Executor::dry_runs(const core::ClusterSnapshot& snapshot) {
  std::set<std::string_view> alive;
  for (const auto& job : snapshot.jobs) alive.insert(job->meta.uid);
  std::erase_if(dry_runs_, [&](const auto& entry) { return !alive.contains(entry.first); });
  return dry_runs_;
}

}  // namespace verl::controller
