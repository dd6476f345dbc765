// What decisions need of a Node, a Pod and a few neighbours: slim, because caches hold thousands of them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/condition.h"
#include "api/meta.h"

namespace verl::api {

// Resource name → thousandths ("cpu": 190000 is 190 cores; "nvidia.com/gpu": 8000 is 8; "memory" in thousandths of a byte).
using Resources = std::map<std::string, std::int64_t>;

constexpr std::string_view kGpuResource = "nvidia.com/gpu";

struct Taint {
  std::string key{};
  std::string value{};
  std::string effect{};  // NoSchedule, PreferNoSchedule, NoExecute
  bool operator==(const Taint&) const = default;
};

struct Node {
  Meta meta{};
  std::vector<Taint> taints{};
  bool unschedulable{false};
  ConditionStatus ready{ConditionStatus::Unknown};
  Resources allocatable{};
  std::string internal_ip{};  // first InternalIP, empty when there is none
  std::string boot_id{};
  std::vector<std::string> unreadable{};  // fields whose quantity could not be parsed: the node is then not eligible
  bool operator==(const Node&) const = default;
};

struct HostPort {
  std::string ip{};        // empty means all addresses
  std::string protocol{};  // TCP when not given
  std::int32_t port{0};
  auto operator<=>(const HostPort&) const = default;
};

struct Toleration {
  std::string key{};       // empty with operator Exists tolerates everything
  std::string op{};        // Equal (default) or Exists
  std::string value{};
  std::string effect{};    // empty matches every effect
  bool operator==(const Toleration&) const = default;
};

struct ContainerState {
  std::string name{};
  bool init{false};
  bool started{false};        // running or terminated at least once
  bool running{false};
  bool ready{false};          // its readiness probe passes; for `driver` this means that the trainer has started
  std::string waiting_reason{};  // ContainerCreating, ImagePullBackOff, …
  std::string waiting_message{};
  std::optional<std::int32_t> exit_code{};
  std::string terminated_reason{};
  std::string termination_message{};
  std::optional<Timestamp> started_at{};
  std::optional<Timestamp> finished_at{};
  bool operator==(const ContainerState&) const = default;
};

struct Pod {
  Meta meta{};
  std::string owner_uid{};       // uid of the controlling owner, empty when there is none
  std::string node_name{};       // spec.nodeName
  std::string nominated_node{};  // status.nominatedNodeName
  std::string phase{};           // Pending, Running, Succeeded, Failed, Unknown, or empty
  std::string reason{};          // status.reason: Evicted, UnexpectedAdmissionError, …
  std::string message{};
  Resources requests{};          // effective, as the scheduler counts them: init and sidecar containers, overhead, pod level
  std::vector<HostPort> host_ports{};
  std::vector<ContainerState> containers{};  // only of pods that carry our job label
  std::vector<Condition> conditions{};       // likewise
  std::int32_t priority{0};
  std::vector<std::string> unreadable{};
  bool operator==(const Pod&) const = default;
};

struct PriorityClass {
  Meta meta{};
  std::int32_t value{0};
  bool global_default{false};
  bool may_preempt{true};  // preemptionPolicy is not Never
  std::vector<std::string> unreadable{};
  bool operator==(const PriorityClass&) const = default;
};

// The sum over all ResourceQuota objects is not formed here: each one is kept with what it limits and what is used.
struct ResourceQuota {
  Meta meta{};
  Resources hard{};  // "requests.nvidia.com/gpu", "pods", "limits.memory", … in thousandths
  Resources used{};
  bool scoped{false};  // has scopes or a scopeSelector: reported, not judged
  std::vector<std::string> unreadable{};  // a quantity that could not be parsed is missing above
  bool operator==(const ResourceQuota&) const = default;
};

// The heartbeat of one node agent. `renewed` is the time in managedFields of the last renewal, which the apiserver stamps.
struct Heartbeat {
  Meta meta{};  // name is the node's name
  std::string holder{};
  std::optional<Timestamp> renewed{};
  Seconds duration{0};  // spec.leaseDurationSeconds: three times the renewal the operator asks for
  std::optional<Timestamp> asked{};  // when that was last written, by the apiserver's clock
  std::vector<std::string> unreadable{};
  bool operator==(const Heartbeat&) const = default;
};

}  // namespace verl::api
