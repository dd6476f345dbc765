// What a report shows of the node beside the findings, within the bounds of the NodeReadiness schema: the API refuses a
// report that breaks one of them as a whole, and what a node says of itself is not under anybody's control.
#include <algorithm>

#include "base/text.h"
#include "diagnosis/rdma/port.h"
#include "node-agent/checks/judge.h"
#include "node-agent/checks/scope.h"

namespace verl::agent {
namespace {

constexpr size_t kMostAddresses = 32;  // of one interface
constexpr size_t kLongestName = 64;
constexpr size_t kLongestPci = 32;

// As the API keeps it: broken UTF-8 would come back changed, and look like news at every look.
std::string kept(std::string_view value, size_t limit) { return shorten(escape_controls(value), limit); }

// A number that cannot be meant is one that is not known.
template <class Int>
Int within(Int value, Int low, Int high, Int unknown = 0) {
  return value < low || value > high ? unknown : value;
}

std::int32_t numa_of(std::int32_t node) { return within(node, 0, 1023, -1); }

// The node's own address is the one that must not be cut off.
std::vector<std::string> addresses_of(const Interface& one, const JudgeInput& input) {
  std::vector<std::string> out = one.addresses;
  if (out.size() > kMostAddresses) {
    std::stable_partition(out.begin(), out.end(), [&](const std::string& address) { return address == input.spec.address; });
    out.resize(kMostAddresses);
  }
  for (std::string& address : out) address = kept(address, kLongestName);
  return out;
}

// Those that the findings and the operator go by come first: on a machine with many virtual functions not all have room.
std::vector<api::InterfaceStatus> interfaces_of(const JudgeInput& input) {
  std::vector<api::InterfaceStatus> out;
  if (!input.observation.interfaces) return out;
  for (const Interface& one : *input.observation.interfaces) {
    const bool fabric = is_fabric(one, input);
    const bool control = is_control(one, input);
    if ((!fabric && !control && !one.physical) || one.name.empty()) continue;
    out.push_back({.name = kept(one.name, kLongestName),
                   .up = one.operstate && *one.operstate == "up",
                   .mtu = within(one.mtu.value_or(0), 0, 1'000'000),
                   .speed_mbps = one.speed_mbps && *one.speed_mbps >= 0 ? std::optional(*one.speed_mbps) : std::nullopt,
                   .pci = kept(one.pci, kLongestPci),
                   .numa_node = numa_of(one.numa_node),
                   .control = control,
                   .fabric = fabric,
                   .addresses = addresses_of(one, input)});
  }
  const auto rank = [](const api::InterfaceStatus& one) { return one.control ? 0 : one.fabric ? 1 : 2; };
  std::stable_sort(out.begin(), out.end(), [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  if (out.size() > kMostShown) out.resize(kMostShown);
  return out;
}

api::RdmaPortStatus shown_port(const RdmaPort& one, const JudgeInput& input) {
  const Interface* netdev = find_interface(input, one.netdev);
  std::int32_t active_mtu = one.active_mtu.value_or(0);
  // Derived, as the finding mtu-roce-active says: what the interface allows at most.
  if (active_mtu == 0 && one.link_layer && *one.link_layer == "Ethernet" && netdev != nullptr) active_mtu = rdma::roce_mtu(netdev->mtu.value_or(0));
  return {.device = kept(one.device, kLongestName),
          .port = one.port,
          .state = kept(one.state.value_or(""), 32),
          .link_layer = kept(one.link_layer.value_or(""), 32),
          .active_mtu = within(active_mtu, 0, 16384),
          .rate_gbps = within(one.rate_gbps.value_or(0), 0, 100'000),
          .netdev = kept(one.netdev, kLongestName),
          .pci = kept(one.pci, kLongestPci),
          .numa_node = numa_of(one.numa_node)};
}

std::vector<api::RdmaPortStatus> rdma_of(const JudgeInput& input) {
  std::vector<api::RdmaPortStatus> out;
  if (!input.observation.rdma) return out;
  // Expected ports first, then other hardware, then software devices.
  const auto rank = [&](const RdmaPort& one) { return is_expected(one, input) ? 0 : one.hardware ? 1 : 2; };
  for (int wanted = 0; wanted <= 2; ++wanted) {
    for (const RdmaPort& one : *input.observation.rdma) {
      if (rank(one) != wanted || one.device.empty() || one.port < 1 || one.port > 255) continue;
      if (out.size() == kMostShown) return out;
      out.push_back(shown_port(one, input));
    }
  }
  return out;
}

api::ClockStatus clock_of(const TimeObservation& time) {
  if (time.daemon) {
    const clock::Judgement judgement = clock::judge_daemon(*time.daemon, time.now);
    api::ClockStatus out{.source = "chronyd",
                         .synchronised = judgement.state == clock::State::Synchronised,
                         .offset = judgement.offset,
                         .error_bound = judgement.bound,
                         .reference = kept(judgement.reference, 253)};
    if (out.error_bound && *out.error_bound < Microseconds(0)) out.error_bound.reset();
    return out;
  }
  // Without a daemon nobody vouches for the clock: the finding says what the kernel knows.
  return {.source = time.kernel ? "kernel" : "none", .synchronised = false, .offset = {}, .error_bound = {}, .reference = {}};
}

}  // namespace

api::NodeReadinessStatus status_of(const JudgeInput& input) {
  const Observation& seen = input.observation;
  api::NodeReadinessStatus out;
  out.node_uid = input.spec.node_uid;
  out.boot_id = kept(seen.boot_id.value_or(""), kLongestName);
  out.findings = judge(input);
  out.interfaces = interfaces_of(input);
  out.rdma = rdma_of(input);
  out.clock = clock_of(seen.time);
  if (seen.nccl_conf) {
    for (const nccl::Setting& setting : seen.nccl_conf->settings) {
      if (setting.name.empty()) continue;
      if (out.nccl.size() == kMostShown) break;
      out.nccl.push_back({.name = kept(setting.name, 128), .value = kept(setting.value, 1024), .source = "/etc/nccl.conf"});
    }
  }
  if (seen.cpu) {
    out.topology.sockets = within(seen.cpu->sockets, 0, 64);
    out.topology.numa_nodes = static_cast<std::int32_t>(within<size_t>(seen.cpu->numa_nodes.size(), 0, 1024));
    out.topology.cores = within(seen.cpu->cores, 0, 65536);
    out.topology.cpus = within(seen.cpu->cpus, 0, 65536);
    out.topology.memory_bytes = std::max<std::int64_t>(seen.cpu->memory_bytes, 0);
  }
  if (seen.pci) {
    for (const topology::PciDevice& device : *seen.pci) {
      if (topology::is_gpu(device) && out.topology.gpus.size() < kMostShown) out.topology.gpus.push_back(kept(device.address, kLongestPci));
    }
  }
  return out;
}

}  // namespace verl::agent
