// The host itself: GPUs, NUMA nodes and how they hang together; the NCCL settings it imposes in judge_nccl.cpp.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "node-agent/checks/judge.h"

namespace verl::agent {
namespace {

std::string counted(size_t count, std::string_view one) { return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s"); }

Finding judge_gpus(const JudgeInput& input) {
  Finding finding{.check = "gpu-count"};
  const auto& pci = input.observation.pci;
  if (!pci) {
    finding.message = pci.error();
    return finding;
  }
  std::vector<std::string> gpus;
  for (const topology::PciDevice& device : *pci) {
    if (topology::is_gpu(device)) gpus.push_back(device.address);
  }
  finding.seen = std::to_string(gpus.size());
  const auto wanted = input.spec.expectations.inventory.gpus;
  if (!wanted) {
    finding.verdict = Verdict::Skipped;
    finding.message = "no number is declared";
    return finding;
  }
  finding.wanted = std::to_string(*wanted);
  const auto seen = static_cast<std::int64_t>(gpus.size());
  finding.verdict = seen == *wanted ? Verdict::Pass : seen < *wanted ? Verdict::Fail : Verdict::Warn;
  if (finding.verdict == Verdict::Fail) {
    finding.message = gpus.empty() ? "no NVIDIA GPU on the PCI bus" : fmt::format("on the PCI bus: {}", join_some(gpus, 16));
    finding.remedy = "a GPU that left the bus needs a power cycle: look for Xid 79 in dmesg";
  }
  return finding;
}

Finding judge_numa_count(const JudgeInput& input) {
  Finding finding{.check = "numa-topology", .subject = "NUMA nodes"};
  const auto& cpu = input.observation.cpu;
  if (!cpu) {
    finding.message = cpu.error();
    return finding;
  }
  const auto with_cpus = std::count_if(cpu->numa_nodes.begin(), cpu->numa_nodes.end(), [](const host::NumaNode& node) { return !node.cpus.empty(); });
  finding.seen = std::to_string(with_cpus);
  const auto wanted = input.spec.expectations.inventory.numa_nodes;
  if (!wanted) {
    finding.verdict = Verdict::Skipped;
    finding.message = "no number is declared";
    return finding;
  }
  finding.wanted = std::to_string(*wanted);
  finding.verdict = with_cpus == *wanted ? Verdict::Pass : Verdict::Fail;
  if (finding.verdict == Verdict::Fail) finding.remedy = "the firmware's NUMA settings decide this (node interleaving, NPS, SNC): make them those of the other nodes";
  return finding;
}

Finding judge_locality(const JudgeInput& input) {
  Finding finding{.check = "numa-topology", .subject = "GPUs"};
  const auto& pci = input.observation.pci;
  if (!pci) {
    finding.message = pci.error();
    return finding;
  }
  std::vector<const topology::PciDevice*> gpus;
  std::vector<const topology::PciDevice*> nics;
  for (const topology::PciDevice& device : *pci) {
    if (topology::is_gpu(device)) gpus.push_back(&device);
    // Only devices that carry RDMA are rails; a management port beside a GPU helps nobody.
    const auto& ports = input.observation.rdma;
    if (topology::is_network(device) && ports &&
        std::any_of(ports->begin(), ports->end(), [&](const RdmaPort& port) { return port.pci == device.address; })) {
      nics.push_back(&device);
    }
  }
  if (!input.observation.rdma) {
    finding.message = input.observation.rdma.error();
    return finding;
  }
  if (gpus.empty() || nics.empty()) {
    finding.verdict = Verdict::Skipped;
    finding.seen = counted(gpus.size(), "GPU") + ", " + counted(nics.size(), "RDMA device");
    finding.message = "needs GPUs and RDMA devices";
    return finding;
  }
  std::vector<std::string> far;
  std::vector<std::string> unknown;
  for (const topology::PciDevice* gpu : gpus) {
    auto nearest = topology::Distance::Unknown;
    bool all_known = true;
    for (const topology::PciDevice* nic : nics) {
      const topology::Distance one = topology::distance(*gpu, *nic);
      if (one == topology::Distance::Unknown) {
        all_known = false;
      } else {
        nearest = std::min(nearest, one);
      }
    }
    if (nearest <= topology::Distance::Node) continue;
    (all_known ? far : unknown).push_back(gpu->address);
  }
  finding.wanted = "an RDMA device on each GPU's own NUMA node";
  if (!far.empty()) {
    finding.verdict = Verdict::Warn;
    finding.seen = fmt::format("GPUs that reach every RDMA device across sockets: {}", join_some(far, 8));
    finding.remedy = "compare slots with the vendor's layout; half the network bandwidth may be lost";
  } else if (!unknown.empty()) {
    finding.verdict = Verdict::Warn;
    finding.seen = fmt::format("the firmware does not say where these are: {}", join_some(unknown, 8));
    finding.remedy = "numa_node reads -1: enable NUMA in the firmware";
  } else {
    finding.verdict = Verdict::Pass;
    finding.seen = counted(gpus.size(), "GPU") + ", " + counted(nics.size(), "RDMA device");
  }
  return finding;
}

}  // namespace

std::vector<Finding> judge_host(const JudgeInput& input) {
  std::vector<Finding> findings = judge_nccl(input);
  findings.push_back(judge_gpus(input));
  findings.push_back(judge_numa_count(input));
  findings.push_back(judge_locality(input));
  return findings;
}

}  // namespace verl::agent
