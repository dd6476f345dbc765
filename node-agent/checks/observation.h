// What the checks saw on one node, before anybody judges it. A value: recorded trees give the same one as the machine did.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/node_readiness.h"
#include "base/result.h"
#include "base/time.h"
#include "diagnosis/nccl/conf.h"
#include "diagnosis/rdma/gid.h"
#include "diagnosis/time/clock.h"
#include "diagnosis/topology/pci.h"
#include "host/host.h"

namespace verl::agent {

// A reading is a value or the reason why there is none; the reason names the file.
template <class T>
using Reading = tl::expected<T, std::string>;

struct PacketCounters {
  std::uint64_t packets{0};
  std::uint64_t lost{0};  // missed, damaged or dropped on transmit; never rx_dropped, which counts unknown protocols
  bool operator==(const PacketCounters&) const = default;
};

struct Interface {
  std::string name{};
  bool physical{false};          // has a device behind it
  std::string rdma_device{};     // of the same PCI function
  Reading<std::int32_t> mtu{0};
  Reading<std::string> operstate{};
  Reading<std::int32_t> type{0};  // ARPHRD_: 1 Ethernet, 32 InfiniBand, 772 loopback
  Reading<std::int32_t> speed_mbps{0};
  std::vector<std::string> bond_members{};
  std::vector<std::string> addresses{};
  std::string pci{};
  std::int32_t numa_node{-1};
  Reading<PacketCounters> counters{};
  bool operator==(const Interface&) const = default;
};

struct RdmaPort {
  std::string device{};
  std::int32_t port{1};
  bool hardware{false};  // has a PCI function; soft-RoCE and soft-iWARP have none and never count
  Reading<std::string> state{};
  Reading<std::string> physical_state{};
  Reading<std::string> link_layer{};
  Reading<std::int32_t> rate_gbps{0};
  Reading<std::int32_t> active_mtu{0};  // by verbs
  std::string netdev{};
  std::string pci{};
  std::int32_t numa_node{-1};
  Reading<std::vector<rdma::GidEntry>> gids{};  // entries that are not empty
  bool operator==(const RdmaPort&) const = default;
};

struct TimeObservation {
  Timestamp now{};
  Reading<clock::Daemon> daemon{};
  bool daemon_absent{false};  // nobody listens, as opposed to: could not be asked
  Reading<clock::Kernel> kernel{};
  bool operator==(const TimeObservation&) const = default;
};

struct PortRange {
  std::int32_t first{0};
  std::int32_t last{0};
  std::string reserved{};  // "20000-29999,…"
  bool operator==(const PortRange&) const = default;
};

struct Observation {
  Reading<std::string> boot_id{};
  Reading<std::vector<Interface>> interfaces{};
  Reading<std::vector<RdmaPort>> rdma{};
  Reading<std::vector<host::InterfaceAddress>> addresses{};
  TimeObservation time{};
  Reading<nccl::Conf> nccl_conf{};  // no file is an empty configuration
  Reading<host::CpuTopology> cpu{};
  Reading<std::vector<topology::PciDevice>> pci{};
  Reading<PortRange> ephemeral_ports{};
  bool operator==(const Observation&) const = default;
};

// Counters of an earlier look, by interface.
using PacketSample = std::map<std::string, PacketCounters>;

}  // namespace verl::agent
