#include "node-agent/agent/cluster_agent.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/text.h"
#include "codec/decode.h"
#include "codec/encode.h"
#include "kube/protocol/kinds.h"
#include "kube/protocol/verbs.h"
#include "node-agent/agent/report_change.h"
#include "node-agent/agent/version.h"
#include "node-agent/checks/judge.h"
#include "node-agent/checks/observe.h"

namespace verl::agent {
namespace {

using Json = nlohmann::json;

using namespace kube::kinds;
const std::string kFieldManager = "verl-node-agent";
constexpr Seconds kPacketWindow{60};
constexpr Bytes kMaxReport{1024 * 1024};

bool succeeded(const kube::Reply& reply) { return reply.status >= 200 && reply.status < 300; }

// "HTTP 403: nodereadinesses ... is forbidden": the server's own sentence where it gives one.
std::string refusal(const kube::Reply& reply) {
  const Json body = Json::parse(reply.body, nullptr, false);
  std::string text = fmt::format("HTTP {}", reply.status);
  if (body.is_object() && body.contains("message") && body["message"].is_string()) {
    text += ": " + shorten(escape_controls(body["message"].get<std::string>()), 300);
  }
  return text;
}

std::string first_claim(const Json& extra, const char* key) {
  const auto values = extra.find(key);
  if (values == extra.end() || !values->is_array() || values->empty() || !values->front().is_string()) return {};
  return values->front().get<std::string>();
}

Identity identity_in(const std::string& body) {
  const Json review = Json::parse(body, nullptr, false);
  const Json extra = review.is_object() ? review.value(Json::json_pointer("/status/userInfo/extra"), Json::object()) : Json::object();
  if (!extra.is_object()) return {};
  return {.node_name = first_claim(extra, "authentication.kubernetes.io/node-name"),
          .node_uid = first_claim(extra, "authentication.kubernetes.io/node-uid")};
}

api::Condition healthy(const api::NodeReadinessStatus& status, Timestamp now) {
  const bool boot_known = !status.boot_id.empty();
  return {.type = "Healthy",
          .status = boot_known ? api::ConditionStatus::True : api::ConditionStatus::False,
          .reason = boot_known ? "Reporting" : "BootUnknown",
          .message = boot_known ? "the agent looks at its node and reports" : "the boot id of this node could not be read, so no finding counts",
          .last_transition = now,
          .observed_generation = status.observed_generation};
}

}  // namespace

ClusterAgent::ClusterAgent(kube::Api& api, OpenHost open_host, const Clock& clock, ClusterAgentOptions options, Log log)
    : api_(api), open_host_(std::move(open_host)), clock_(clock), options_(std::move(options)), log_(std::move(log)),
      renewal_(options_.default_renewal) {}

void ClusterAgent::say(const std::string& line) {
  if (line == last_line_) return;
  last_line_ = line;
  log_(line);
}

Seconds ClusterAgent::backoff() {
  const Seconds wait = std::min(options_.longest_backoff, Seconds(std::int64_t{1} << std::min(failures_, 10)));
  ++failures_;
  return wait;
}

Result<bool> ClusterAgent::know_identity(std::stop_token stop) {
  if (identity_) return true;
  const Json review = {{"apiVersion", "authentication.k8s.io/v1"}, {"kind", "SelfSubjectReview"}};
  const auto reply = api_.send(kube::create_request({.resource = kSelfReviews}, review.dump(), {.field_manager = kFieldManager}), stop);
  if (!reply) {
    say("asking the API server who this agent is: " + reply.error().message);
    return false;
  }
  if (!succeeded(*reply)) {
    say("asking the API server who this agent is: " + refusal(*reply));
    return false;
  }
  const Identity who = identity_in(reply->body);
  if (who.node_name.empty() || who.node_uid.empty()) {
    return failure(ErrorCode::Denied, "this agent's token is not bound to a pod on a node: it needs the projected token of its own pod");
  }
  if (who.node_name != options_.node_name) {
    return failure(ErrorCode::Denied, fmt::format("this agent's token belongs to a pod on node {}, but NODE_NAME says {}",
                                                  escape_controls(who.node_name), escape_controls(options_.node_name)));
  }
  identity_ = who;
  return true;
}

bool ClusterAgent::look(std::stop_token stop) {
  const kube::Target target{.resource = kReports, .name_space = {}, .name = options_.node_name, .subresource = {}};
  kube::Request get = kube::get_request(target);
  get.max_body = kMaxReport;
  const auto reply = api_.send(get, stop);
  if (!reply || (!succeeded(*reply) && reply->status != 404)) {
    say(fmt::format("reading the report of this node: {}", reply ? refusal(*reply) : reply.error().message));
    next_look_ = clock_.steady() + backoff();
    return false;
  }
  if (reply->status == 404) {
    say(fmt::format("no NodeReadiness {} yet: the operator makes one for nodes with GPUs and for those that a policy selects", options_.node_name));
    next_look_ = clock_.steady() + options_.waiting;
    return false;
  }
  const auto report = codec::decode_object<api::NodeReadiness>(reply->body);
  if (!report) {
    say("reading the report of this node: " + report.error().message);
    next_look_ = clock_.steady() + backoff();
    return false;
  }
  next_look_ = clock_.steady() + options_.look_every;
  if (report->spec.node_uid != identity_->node_uid) {
    say(fmt::format("the NodeReadiness {} is of an earlier node of that name (UID {}, this one's is {}): waiting for a new one", options_.node_name,
                    escape_controls(report->spec.node_uid), identity_->node_uid));
    // Or else it is this one that is of the earlier node: its token may have been renewed for the new one since it was asked about.
    identity_.reset();
    next_look_ = clock_.steady() + options_.waiting;
    return false;
  }
  // A spec that is only half understood must not be judged by: the operator then sees an outdated report.
  std::vector<std::string> unreadable;
  std::copy_if(report->unreadable.begin(), report->unreadable.end(), std::back_inserter(unreadable),
               [](const std::string& field) { return field.rfind("status", 0) != 0; });
  if (!unreadable.empty()) {
    say(fmt::format("the NodeReadiness of this node cannot be read in full, nothing is published: {}", join_some(unreadable, 3)));
    return false;
  }
  const auto host = open_host_();
  if (!host) {
    say("looking at the node: " + host.error().message);
    return false;
  }
  const Observation observation = observe(**host);
  const std::string boot = observation.boot_id.value_or("");
  const PacketSample* before = !sample_.empty() && sample_boot_ == boot ? &sample_ : nullptr;
  api::NodeReadinessStatus status = status_of({.observation = observation, .spec = report->spec, .before = before});
  if (before == nullptr || clock_.steady() - sampled_ >= kPacketWindow) {
    sample_ = packet_sample(observation);
    sampled_ = clock_.steady();
    sample_boot_ = boot;
  }
  status.observed_generation = report->meta.generation;
  status.agent_version = kVersion;
  status.observed_at = clock_.now();
  status.conditions = report->status.conditions;  // for the time of the last transition
  api::set_condition(status.conditions, healthy(status, clock_.now()));
  const bool due = !published_ || clock_.steady() - *published_ >= options_.refresh_every;
  if (!due && !worth_writing(status, report->status)) return true;
  return publish(*report, status, stop);
}

bool ClusterAgent::publish(const api::NodeReadiness& report, const api::NodeReadinessStatus& status, std::stop_token stop) {
  const kube::Target target{.resource = kReports, .name_space = {}, .name = options_.node_name, .subresource = "status"};
  // The UID makes the write fail when the report was deleted and made anew since it was read.
  const api::Meta only{.name = report.meta.name, .uid = report.meta.uid};
  const kube::WriteOptions options{.field_manager = kFieldManager, .dry_run = false, .force = true, .strict = true};
  const auto reply = api_.send(kube::apply_request(target, codec::encode_agent_status(only, status), options), stop);
  if (reply && succeeded(*reply)) {
    published_ = clock_.steady();
    failures_ = 0;
    const auto count = [&](Verdict verdict) {
      return std::count_if(status.findings.begin(), status.findings.end(), [&](const Finding& one) { return one.verdict == verdict; });
    };
    say(fmt::format("published generation {}: {} failed, {} unknown, {} warnings", status.observed_generation, count(Verdict::Fail),
                    count(Verdict::Unknown), count(Verdict::Warn)));
    return true;
  }
  say(fmt::format("publishing the report of this node: {}", reply ? refusal(*reply) : reply.error().message));
  next_look_ = clock_.steady() + backoff();
  return false;
}

bool ClusterAgent::renew(std::stop_token stop) {
  const kube::Target target{.resource = kLeases, .name_space = options_.lease_namespace, .name = options_.node_name, .subresource = {}};
  // The server's stamp in managedFields is what counts; renewTime is for people, and must change for there to be a stamp.
  const Json patch = {{"spec", {{"holderIdentity", options_.node_name}, {"renewTime", format_rfc3339(clock_.now(), true)}}}};
  const auto reply = api_.send(kube::merge_patch_request(target, patch.dump(), {.field_manager = kFieldManager}), stop);
  if (!reply || !succeeded(*reply)) {
    if (reply && reply->status == 404) {
      say(fmt::format("no Lease {}/{} yet: the operator makes it", options_.lease_namespace, options_.node_name));
    } else {
      say(fmt::format("renewing the Lease of this node: {}", reply ? refusal(*reply) : reply.error().message));
    }
    next_renewal_ = clock_.steady() + options_.waiting;
    return false;
  }
  const auto lease = codec::decode_object<api::Heartbeat>(reply->body);
  renewal_ = lease && lease->duration >= Seconds(3) ? lease->duration / 3 : options_.default_renewal;
  next_renewal_ = clock_.steady() + renewal_;
  return true;
}

Result<Microseconds> ClusterAgent::round(std::stop_token stop) {
  const auto known = know_identity(stop);
  if (!known) return tl::unexpected(known.error());
  if (!*known) return Microseconds(backoff());
  if (clock_.steady() >= next_look_) current_ = look(stop);
  // An agent that cannot publish what it sees must not look alive: the report on the server may be better than the node is.
  if (current_ && clock_.steady() >= next_renewal_) renew(stop);
  const Instant next = current_ ? std::min(next_look_, next_renewal_) : next_look_;
  return std::max(Microseconds(0), std::chrono::duration_cast<Microseconds>(next - clock_.steady()));
}

Result<bool> ClusterAgent::run(std::stop_token stop) {
  std::mutex mutex;
  std::condition_variable_any asleep;
  while (!stop.stop_requested()) {
    const auto wait = round(stop);
    if (!wait) return tl::unexpected(wait.error());
    std::unique_lock lock(mutex);
    asleep.wait_for(lock, stop, std::max(*wait, Microseconds(1000)), [] { return false; });
  }
  return true;
}

}  // namespace verl::agent
