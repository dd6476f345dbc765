// What a report shows of the node beside the findings.
#include <algorithm>

#include "diagnosis/rdma/port.h"
#include "node-agent/checks/judge.h"
#include "node-agent/checks/scope.h"

namespace verl::agent {
namespace {

constexpr size_t kMostEntries = 64;  // of each list: what the API takes

std::vector<api::InterfaceStatus> interfaces_of(const JudgeInput& input) {
  std::vector<api::InterfaceStatus> out;
  if (!input.observation.interfaces) return out;
  for (const Interface& one : *input.observation.interfaces) {
    const bool fabric = is_fabric(one, input);
    const bool control = is_control(one, input);
    if (!fabric && !control && !one.physical) continue;
    if (out.size() == kMostEntries) break;
    out.push_back({.name = one.name,
                   .up = one.operstate && *one.operstate == "up",
                   .mtu = one.mtu.value_or(0),
                   .speed_mbps = one.speed_mbps ? std::optional(*one.speed_mbps) : std::nullopt,
                   .pci = one.pci,
                   .numa_node = one.numa_node,
                   .control = control,
                   .fabric = fabric,
                   .addresses = one.addresses});
  }
  return out;
}

std::vector<api::RdmaPortStatus> rdma_of(const JudgeInput& input) {
  std::vector<api::RdmaPortStatus> out;
  if (!input.observation.rdma) return out;
  for (const RdmaPort& one : *input.observation.rdma) {
    if (out.size() == kMostEntries) break;
    const Interface* netdev = find_interface(input, one.netdev);
    std::int32_t active_mtu = one.active_mtu.value_or(0);
    // Derived, as the finding mtu-roce-active says: what the interface allows at most.
    if (active_mtu == 0 && one.link_layer && *one.link_layer == "Ethernet" && netdev != nullptr) active_mtu = rdma::roce_mtu(netdev->mtu.value_or(0));
    out.push_back({.device = one.device,
                   .port = one.port,
                   .state = one.state.value_or(""),
                   .link_layer = one.link_layer.value_or(""),
                   .active_mtu = active_mtu,
                   .rate_gbps = one.rate_gbps.value_or(0),
                   .netdev = one.netdev,
                   .pci = one.pci,
                   .numa_node = one.numa_node});
  }
  return out;
}

api::ClockStatus clock_of(const TimeObservation& time) {
  if (time.daemon) {
    const clock::Judgement judgement = clock::judge_daemon(*time.daemon, time.now);
    return {.source = "chronyd",
            .synchronised = judgement.state == clock::State::Synchronised,
            .offset = judgement.offset,
            .error_bound = judgement.bound,
            .reference = judgement.reference};
  }
  // Without a daemon nobody vouches for the clock: the finding says what the kernel knows.
  return {.source = time.kernel ? "kernel" : "none", .synchronised = false, .offset = {}, .error_bound = {}, .reference = {}};
}

}  // namespace

api::NodeReadinessStatus status_of(const JudgeInput& input) {
  const Observation& seen = input.observation;
  api::NodeReadinessStatus out;
  out.node_uid = input.spec.node_uid;
  out.boot_id = seen.boot_id.value_or("");
  out.findings = judge(input);
  out.interfaces = interfaces_of(input);
  out.rdma = rdma_of(input);
  out.clock = clock_of(seen.time);
  if (seen.nccl_conf) {
    for (const nccl::Setting& setting : seen.nccl_conf->settings) {
      if (out.nccl.size() == kMostEntries) break;
      out.nccl.push_back({.name = setting.name, .value = setting.value, .source = "/etc/nccl.conf"});
    }
  }
  if (seen.cpu) {
    out.topology.sockets = seen.cpu->sockets;
    out.topology.numa_nodes = static_cast<std::int32_t>(seen.cpu->numa_nodes.size());
    out.topology.cores = seen.cpu->cores;
    out.topology.cpus = seen.cpu->cpus;
    out.topology.memory_bytes = seen.cpu->memory_bytes;
  }
  if (seen.pci) {
    for (const topology::PciDevice& device : *seen.pci) {
      if (topology::is_gpu(device) && out.topology.gpus.size() < kMostEntries) out.topology.gpus.push_back(device.address);
    }
  }
  return out;
}

}  // namespace verl::agent
