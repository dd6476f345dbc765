// The values that decisions are made from and the plan that comes out. No behaviour here.
// A snapshot is immutable and complete: its own time included, so that the same snapshot gives the same plan.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/node.h"
#include "api/node_readiness.h"
#include "api/readiness_policy.h"
#include "api/verl_job.h"

namespace verl::core {

// One level of the fabric, outermost first in Config::levels; a node without the label is alone in a private domain.
struct Level {
  std::string name{};  // "block", "rack"
  std::string key{};   // node label
  bool operator==(const Level&) const = default;
};

struct Config {
  std::string name_space{"verl-system"};  // the operator's own: heartbeats live there
  std::vector<Level> levels{};
  std::string gpu_resource{std::string(api::kGpuResource)};
  std::int32_t port_first{20000};  // blocks of 16 in [first, last]
  std::int32_t port_last{29999};
  Seconds renewal_idle{30};        // an agent's heartbeat while its node holds no job
  Seconds renewal_busy{10};        // while it does
  std::string default_priority_class{"verl-job"};
  std::string tools_image{};       // has verl-container-check; without it no pod of a job is valid
  bool operator==(const Config&) const = default;
};

// What the apiserver's dry run of one pod of a pool brought back, for one generation of the job.
struct DryRun {
  std::int64_t job_generation{0};
  Timestamp asked{};  // a refusal is asked again after a while
  std::string pool{};
  bool allowed{false};
  std::string refusal_reason{};   // PodSecurityForbids, PodMutated, PodRefused, PodNameTaken
  std::string refusal_message{};
  api::Resources requests{};      // effective, from the returned object
  std::int32_t priority{0};
  bool operator==(const DryRun&) const = default;
};

template <class T>
using Shared = std::shared_ptr<const T>;

struct ClusterSnapshot {
  Timestamp now{};
  Config config{};
  std::vector<Shared<api::Node>> nodes{};             // sorted by name
  std::vector<Shared<api::Pod>> pods{};               // all of the cluster, sorted by namespace and name
  std::vector<Shared<api::NodeReadiness>> reports{};  // sorted by name
  std::vector<Shared<api::ReadinessPolicy>> policies{};
  std::vector<Shared<api::VerlJob>> jobs{};           // sorted by namespace and name
  std::vector<Shared<api::PriorityClass>> priority_classes{};
  std::vector<Shared<api::ResourceQuota>> quotas{};
  std::vector<Shared<api::Heartbeat>> heartbeats{};             // Leases of agents, sorted by node name
  std::map<std::string, Seconds, std::less<>> heartbeat_age{};  // node name → age; absent: never heard, or not knowable
  bool heartbeats_known{true};                        // false on a plain export: freshness is then Unknown
  std::map<std::string, std::vector<DryRun>, std::less<>> dry_runs{};  // by job UID
  std::set<std::string, std::less<>> held{};  // UIDs of jobs whose own last write is not in the cache yet: counted, not acted on
  std::map<std::string, api::Placement, std::less<>> unseen{};  // held jobs' UIDs → the placement sent last: its nodes count as taken
  std::vector<std::string> unreadable_pods{};  // what they take, and where, is not known: while there are any nobody is given nodes
};

// Actions, each one API call that is safe to repeat.
struct DryRunPods {  // ask the apiserver about one rendered pod of every pool
  std::vector<std::pair<std::string, std::string>> pods{};  // pool → manifest
  bool operator==(const DryRunPods&) const = default;
};
struct CreateSecret {  // the job's Ray token; the executor computes it from the operator's key and the job's UID
  std::string name{};
  std::string manifest{};  // without the token
  bool operator==(const CreateSecret&) const = default;
};
struct CreatePods {  // all at once, in parallel
  std::vector<std::pair<std::string, std::string>> pods{};  // name → manifest (JSON)
  bool operator==(const CreatePods&) const = default;
};
struct DeletePod {
  std::string name{};
  std::string uid{};
  std::string resource_version{};
  std::string why{};
  bool operator==(const DeletePod&) const = default;
};
struct DeleteJob {  // TTL
  std::string uid{};
  std::string resource_version{};
  bool operator==(const DeleteJob&) const = default;
};
struct EmitEvent {
  bool warning{false};
  std::string reason{};
  std::string action{};
  std::string note{};
  bool operator==(const EmitEvent&) const = default;
};
using Action = std::variant<DryRunPods, CreateSecret, CreatePods, DeletePod, DeleteJob, EmitEvent>;

// What to do about one job now. Actions come first, the status is written last; a placement is written alone.
struct Plan {
  std::string name_space{};
  std::string job{};
  std::string job_uid{};
  std::vector<Action> actions{};
  std::optional<api::VerlJobStatus> status{};  // nothing when it would not change
  std::optional<Seconds> requeue_after{};
  bool operator==(const Plan&) const = default;
};

}  // namespace verl::core
