// VerlJob, verl.run/v1alpha1: what a researcher asks for and what became of it.
// Field names follow the CRD (crds/verljobs.yaml); the CRD holds bounds, defaults and rules, and core checks again what
// it relies on, because an object may have been stored under an older schema.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/condition.h"
#include "api/meta.h"
#include "base/time.h"

namespace verl::api {

enum class TopologyMode { Required, Preferred };
enum class Transport { Any, RoCE, InfiniBand, TCP };
enum class RayAuthentication { Token, Disabled };
enum class NumaMode { Required, Preferred, None };

struct Topology {
  std::string level{};  // a name from the operator's level list, for example "rack"
  TopologyMode mode{TopologyMode::Preferred};
  bool operator==(const Topology&) const = default;
};

struct Trainer {
  std::string module{};                // exactly one of module and command is given
  std::vector<std::string> command{};
  std::map<std::string, std::string> overrides{};  // verl override → value as written (scalars only)
  bool operator==(const Trainer&) const = default;
};

struct Pool {
  std::string name{};
  std::int32_t nodes{0};
  std::int32_t gpus_per_node{0};
  std::optional<Topology> topology{};  // replaces the job's own for this pool
  std::string template_json{"{}"};     // the narrow pod template as canonical JSON: {"metadata":{…},"spec":{…}}
  bool operator==(const Pool&) const = default;
};

struct Network {
  Transport transport{Transport::Any};
  std::optional<std::int32_t> mtu{};  // wanted on the fabric interfaces of every chosen node, on top of the policy
  bool operator==(const Network&) const = default;
};

struct Deadlines {
  std::optional<Seconds> queued{};    // longest wait for nodes; none by default
  Seconds bind{60};                   // a pod unscheduled for longer ends the attempt
  Seconds image_pull{1800};           // from bound until the last image is there
  Seconds starting{600};              // from the last image pulled until the driver starts
  std::optional<Seconds> running{};   // longest run; none by default
  bool operator==(const Deadlines&) const = default;
};

struct Recovery {
  std::int32_t infrastructure_restarts{3};
  std::int32_t user_restarts{0};
  bool operator==(const Recovery&) const = default;
};

struct VerlJobSpec {
  bool suspend{false};
  std::string managed_by{"verl.run/verl-operator"};
  std::string image{};
  Trainer trainer{};
  std::vector<Pool> pools{};
  std::optional<Topology> topology{};
  Network network{};
  std::map<std::string, std::string> nccl_env{};
  NumaMode numa{NumaMode::Preferred};
  std::string priority_class{"verl-job"};
  RayAuthentication ray_authentication{RayAuthentication::Token};
  Deadlines deadlines{};
  Recovery recovery{};
  std::string nccl_debug{"WARN"};
  std::optional<Seconds> ttl_after_finished{};
  bool operator==(const VerlJobSpec&) const = default;
};

// One pod of the gang. Ranks are dense from 0 in the string order of `address` over the whole job, as verl sorts.
struct RankPlacement {
  std::int32_t rank{0};
  std::string pool{};
  std::string node{};
  std::string node_uid{};
  std::string boot_id{};
  std::string address{};
  bool operator==(const RankPlacement&) const = default;
};

struct Placement {
  std::int32_t attempt{0};
  std::int32_t port_base{0};
  std::int64_t job_generation{0};     // of the spec this placement was made for
  std::vector<RankPlacement> ranks{};  // sorted by rank
  std::int32_t racks{0};               // distinct domains of the job's (or the closest) level
  bool racks_proven{false};            // no placement on the same nodes could span fewer
  std::int32_t cross_rack_edges{0};    // neighbours in rank order, as a ring, in different racks
  bool edges_proven{false};
  std::vector<std::string> domains{};  // the domains spanned, sorted
  Timestamp decided{};
  bool operator==(const Placement&) const = default;
};

// A node that did not take a pod of an earlier attempt and is left out until then.
struct RejectedNode {
  std::string node{};
  std::string reason{};
  std::int32_t times{1};
  Timestamp until{};
  bool operator==(const RejectedNode&) const = default;
};

struct Attempts {
  std::int32_t started{0};                  // number of the latest attempt, from 1
  std::int32_t infrastructure_restarts{0};  // attempts that ended through no fault of the user
  std::int32_t user_restarts{0};
  std::string last_reason{};                // why the previous attempt ended
  std::string last_message{};
  bool operator==(const Attempts&) const = default;
};

struct VerlJobStatus {
  std::int64_t observed_generation{0};
  std::string phase{};  // for the column only: Suspended, Queued, Starting, Running, Recovering, Succeeded, Failed
  std::string ready{};  // "4/4": pods whose ray container runs, of all pods
  std::int32_t nodes{0};
  std::int32_t gpus{0};
  std::string reason{};  // reason of the condition that decides
  std::vector<Condition> conditions{};
  std::optional<Placement> placement{};
  std::vector<RejectedNode> rejected_nodes{};  // at most 64
  Attempts attempts{};
  std::string head_address{};  // "10.1.0.4:20001", the Ray dashboard of the running attempt
  std::optional<Timestamp> queued_at{};
  std::optional<Timestamp> started_at{};   // driver of the current attempt
  std::optional<Timestamp> finished_at{};
  std::optional<std::int32_t> exit_code{};
  bool operator==(const VerlJobStatus&) const = default;
};

struct VerlJob {
  Meta meta{};
  VerlJobSpec spec{};
  VerlJobStatus status{};
  std::vector<std::string> unreadable{};  // "spec.pools[0].nodes: …": what did not decode; the job is then refused by name
  bool operator==(const VerlJob&) const = default;
};

std::string_view to_string(TopologyMode mode);
std::string_view to_string(Transport transport);
std::string_view to_string(RayAuthentication authentication);
std::string_view to_string(NumaMode mode);

}  // namespace verl::api
