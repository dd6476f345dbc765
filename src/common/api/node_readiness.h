// NodeReadiness, verl.run/v1alpha1: named after its node, spec written by the operator, status by that node's agent.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/condition.h"
#include "api/meta.h"
#include "base/finding.h"
#include "base/time.h"

namespace verl::api {

// Block: a Fail or Unknown keeps jobs off the node. Warn: reported only. Off: not looked at.
enum class CheckAction { Block, Warn, Off };

struct CheckRule {
  std::string id{};
  CheckAction action{CheckAction::Block};
  bool operator==(const CheckRule&) const = default;
};

// What a node should have. Nothing is guessed: a field that is not given is reported, not judged.
struct Inventory {
  std::optional<std::int32_t> gpus{};
  std::optional<std::int32_t> rdma_devices{};
  std::optional<std::int32_t> numa_nodes{};
  bool operator==(const Inventory&) const = default;
};

struct Thresholds {
  std::optional<std::int32_t> mtu_min{};              // netdev MTU of fabric interfaces, bytes
  std::optional<std::int32_t> rdma_mtu_min{};         // active_mtu of RoCE ports, bytes
  std::optional<std::int32_t> link_gbps_min{};        // per fabric port
  std::optional<Microseconds> clock_offset_max{};     // on the daemon's bound of the error, not the kernel's maxerror
  bool operator==(const Thresholds&) const = default;
};

// What both the policy and, resolved for one node, NodeReadiness.spec say.
struct Expectations {
  Inventory inventory{};
  Thresholds thresholds{};
  std::vector<std::string> fabric_interfaces{};  // names or prefixes ending in '*'; empty: netdevs of RDMA devices
  std::string control_interface{};               // empty: the interface that carries the node's InternalIP
  std::vector<CheckRule> checks{};               // those not listed keep their default
  bool operator==(const Expectations&) const = default;
};

struct DomainName {
  std::string level{};
  std::string domain{};
  bool operator==(const DomainName&) const = default;
};

struct NodeReadinessSpec {
  std::string node_uid{};  // immutable
  std::string address{};   // the node's InternalIP
  std::int32_t gpus{0};    // what the Node offers
  std::vector<DomainName> domains{};
  std::string policy{};                 // name of the policy that selected the node, empty: none or a conflict
  std::int64_t policy_generation{0};
  Expectations expectations{};
  bool operator==(const NodeReadinessSpec&) const = default;
};

struct InterfaceStatus {
  std::string name{};
  bool up{false};
  std::int32_t mtu{0};
  std::optional<std::int32_t> speed_mbps{};  // nothing when the driver does not say
  std::string pci{};
  std::int32_t numa_node{-1};
  bool control{false};  // carries control traffic
  bool fabric{false};
  std::vector<std::string> addresses{};
  bool operator==(const InterfaceStatus&) const = default;
};

struct RdmaPortStatus {
  std::string device{};
  std::int32_t port{1};
  std::string state{};       // ACTIVE, DOWN, …
  std::string link_layer{};  // Ethernet, InfiniBand
  std::int32_t active_mtu{0};
  std::int32_t rate_gbps{0};
  std::string netdev{};
  std::string pci{};
  std::int32_t numa_node{-1};
  bool operator==(const RdmaPortStatus&) const = default;
};

struct ClockStatus {
  std::string source{};  // chronyd, kernel, none
  bool synchronised{false};
  std::optional<Microseconds> offset{};
  std::optional<Microseconds> error_bound{};
  std::string reference{};
  bool operator==(const ClockStatus&) const = default;
};

// One NCCL or Gloo setting found on the host, and where.
struct NcclSetting {
  std::string name{};
  std::string value{};
  std::string source{};  // "/etc/nccl.conf"
  bool operator==(const NcclSetting&) const = default;
};

struct TopologyStatus {
  std::int32_t sockets{0};
  std::int32_t numa_nodes{0};
  std::int32_t cores{0};
  std::int32_t cpus{0};
  std::int64_t memory_bytes{0};
  std::vector<std::string> gpus{};  // PCI addresses, in bus order
  bool operator==(const TopologyStatus&) const = default;
};

struct NodeReadinessStatus {
  std::int64_t observed_generation{0};  // of the spec these findings judge
  std::string node_uid{};               // copied from the spec that was judged
  std::string boot_id{};
  std::string agent_version{};
  std::optional<Timestamp> observed_at{};  // the agent's own clock: for people, never for freshness
  std::vector<Finding> findings{};         // at most 128
  std::uint32_t answered{0};               // never on the wire: checks whose harmless findings the operator has dropped (answered_bit)
  std::vector<InterfaceStatus> interfaces{};
  std::vector<RdmaPortStatus> rdma{};
  ClockStatus clock{};
  std::vector<NcclSetting> nccl{};
  TopologyStatus topology{};
  std::string verdict{};                // written by the operator: Ready, NotReady, Unknown
  std::vector<Condition> conditions{};  // Ready: the operator's; Healthy: the agent's
  bool operator==(const NodeReadinessStatus&) const = default;
};

struct NodeReadiness {
  Meta meta{};
  NodeReadinessSpec spec{};
  NodeReadinessStatus status{};
  std::vector<std::string> unreadable{};
  bool operator==(const NodeReadiness&) const = default;
};

std::string_view to_string(CheckAction action);

}  // namespace verl::api
