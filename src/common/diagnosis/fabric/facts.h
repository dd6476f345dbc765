// Network interfaces and RDMA ports of one node, from any tool that shows them. An optional that is empty was not said.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "diagnosis/finding.h"
#include "diagnosis/rdma/gid.h"

namespace verl::fabric {

// The line that said a field, by the field's name as it is called here: "state", "rate", "counter link_downed".
using Lines = std::map<std::string, diagnosis::Evidence>;

// Virtual: veth, cali*, cni*, docker*, virbr*, tunnels: never carries a job on hostNetwork.
enum class InterfaceKind { Unknown, Ethernet, Infiniband, Loopback, Bond, Bridge, Vlan, Virtual };

struct Interface {
  std::string name{};
  InterfaceKind kind{InterfaceKind::Unknown};
  std::optional<bool> up{};        // administratively
  std::optional<bool> running{};   // has a carrier
  std::optional<std::int32_t> mtu{};
  std::optional<std::int64_t> speed_mbps{};
  std::string master{};            // bond or bridge it belongs to
  std::vector<std::string> addresses{};  // "192.0.2.31/24", "fe80::1/64"; the prefix length may be missing
  std::optional<std::int32_t> configured_mtu{};         // what its persistent configuration says
  std::optional<std::int64_t> configured_speed_mbps{};  // what is wanted of it, or what it would bring by design
  std::string duplex{};            // "Full", "Half"
  std::string driver{};
  std::string driver_version{};
  std::string firmware{};
  std::string pci{};               // "0000:5e:00.0"
  Lines lines{};
  bool operator==(const Interface&) const = default;
};

enum class LinkLayer { Unknown, Infiniband, Ethernet };

struct Port {
  std::string device{};            // "mlx5_0"
  std::int32_t port{1};
  LinkLayer link_layer{LinkLayer::Unknown};
  std::string state{};             // "ACTIVE", "DOWN", "INIT", "ARMED"; empty: not said. ibdev2netdev's Up/Down is the netdev's, not this
  std::string physical_state{};    // "LinkUp", "Disabled", "Polling"
  std::optional<double> rate_gbps{};  // means nothing while the port is down
  std::string rate_text{};         // "4X NDR"
  std::optional<std::int32_t> active_mtu{};
  std::optional<std::int32_t> max_mtu{};
  std::optional<std::int32_t> lid{};
  std::optional<std::int32_t> sm_lid{};
  std::string netdev{};
  std::optional<bool> netdev_up{};  // as ibdev2netdev says
  std::vector<rdma::GidEntry> gids{};
  std::map<std::string, std::uint64_t> counters{};
  std::string firmware{};
  std::string pci{};
  std::string model{};             // of the card: "MT4129"; ports of another model are no siblings
  Lines lines{};
  bool operator==(const Port&) const = default;
};

// Counters of one interface or port at one moment. Two of the same owner, in the order they were given, give differences.
struct CounterSnapshot {
  std::string owner{};             // "ens5f0np0", "mlx5_0/1"; empty: the tool did not say (ethtool -S never does)
  std::string document{};
  std::string moment{};            // "t0", a date as printed; empty: not said
  std::map<std::string, std::uint64_t> counters{};
  bool operator==(const CounterSnapshot&) const = default;
};

struct Facts {
  std::vector<Interface> interfaces{};  // unique by name
  std::vector<Port> ports{};            // unique by device and port
  std::vector<CounterSnapshot> snapshots{};  // in the order given
  bool operator==(const Facts&) const = default;
};

void merge(Facts& into, Facts more);

const Interface* interface_named(const Facts& facts, const std::string& name);
const Port* port_of(const Facts& facts, const std::string& device, std::int32_t port);

}  // namespace verl::fabric
