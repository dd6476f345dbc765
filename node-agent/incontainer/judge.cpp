#include "node-agent/incontainer/judge.h"

#include <algorithm>
#include <array>
#include <map>

namespace verl::incontainer {
namespace {

// "64 MiB", "1.5 GiB": cut, never rounded up to what is wanted.
std::string size_text(std::uint64_t bytes) {
  constexpr std::array<const char*, 7> kUnits{"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  size_t unit = 0;
  std::uint64_t whole = bytes;
  std::uint64_t rest = 0;
  while (whole >= 1024 && unit + 1 < kUnits.size()) {
    rest = whole % 1024;
    whole /= 1024;
    ++unit;
  }
  const std::uint64_t tenth = rest * 10 / 1024;
  return std::to_string(whole) + (tenth == 0 ? "" : "." + std::to_string(tenth)) + " " + kUnits[unit];
}

void judge_shared_memory(const Wanted& wanted, const Facts& facts, Verdict& verdict) {
  const std::string wants = ", wants " + size_text(wanted.shm_bytes) + ": ";
  constexpr const char* kRemedy = "the pod's memory-backed volume shm belongs there; look for a volumeMount of the template or a webhook that takes its place";
  if (!facts.shm_bytes.value) {
    verdict.failures.push_back("the size of /dev/shm cannot be told (" + facts.shm_bytes.trouble + ")" + wants + kRemedy);
  } else if (*facts.shm_bytes.value < wanted.shm_bytes - wanted.shm_bytes / 10) {
    verdict.failures.push_back("/dev/shm has " + size_text(*facts.shm_bytes.value) + wants + kRemedy);
  }
}

// The kernel asks for CAP_IPC_LOCK beyond the limit, so either will do. Capabilities given to a container are effective for root alone.
void judge_locked_memory(const Facts& facts, Verdict& verdict) {
  constexpr unsigned kIpcLock = 14;
  if (facts.capabilities.value && (*facts.capabilities.value >> kIpcLock & 1) == 1) return;
  if (facts.memlock_bytes.value && *facts.memlock_bytes.value == kUnlimited) return;
  const std::string limit = facts.memlock_bytes.value ? "locked memory is limited to " + size_text(*facts.memlock_bytes.value)
                                                      : "the limit of locked memory cannot be told (" + facts.memlock_bytes.trouble + ")";
  const std::string capability = facts.capabilities.value ? "IPC_LOCK is not effective"
                                                          : "whether IPC_LOCK is effective cannot be told (" + facts.capabilities.trouble + ")";
  verdict.failures.push_back(limit + " and " + capability + ", wants one of no limit and IPC_LOCK: RDMA cannot register memory; run container ray as root, "
                             "do not drop IPC_LOCK, or raise the container runtime's memlock limit");
}

void judge_rdma_devices(const Wanted& wanted, const Facts& facts, Verdict& verdict) {
  const auto open = static_cast<std::uint64_t>(std::count_if(facts.verbs.begin(), facts.verbs.end(), [](const VerbsDevice& one) { return one.trouble.empty(); }));
  if (open >= wanted.rdma_devices) return;
  const auto shut = std::find_if(facts.verbs.begin(), facts.verbs.end(), [](const VerbsDevice& one) { return !one.trouble.empty(); });
  const std::string example = shut == facts.verbs.end() ? "" : " (" + shut->name + ": " + shut->trouble + ")";
  verdict.failures.push_back(std::to_string(open) + " of " + std::to_string(facts.verbs.size()) + " RDMA devices /dev/infiniband/uverbs* can be opened" + example +
                             ", wants " + std::to_string(wanted.rdma_devices) + ": look at the RDMA device plugin of the node, and at a user of the container that may not open them");
}

void judge_limit(const std::string& what, const Read<std::uint64_t>& limit, std::uint64_t least, std::uint64_t good, const std::string& remedy, bool must_be_known,
                 Verdict& verdict) {
  if (!limit.value) {
    (must_be_known ? verdict.failures : verdict.warnings)
        .push_back("the limit of " + what + " cannot be told (" + limit.trouble + "), wants at least " + std::to_string(good) + ": " + remedy);
  } else if (*limit.value < least) {
    verdict.failures.push_back("at most " + std::to_string(*limit.value) + " " + what + ", needs at least " + std::to_string(least) + " and wants " + std::to_string(good) + ": " + remedy);
  } else if (*limit.value < good) {
    verdict.warnings.push_back("at most " + std::to_string(*limit.value) + " " + what + ", wants " + std::to_string(good) + ": " + remedy);
  }
}

constexpr const char* kNumaRemedy = "; ask for more whole cores in the pool's template, or set the kubelet's CPU manager option distribute-cpus-across-numa";

// Nothing where every GPU has a CPU on its own NUMA node.
std::vector<std::string> numa_problems(const Wanted& wanted, const Facts& facts) {
  const auto untold = [](const std::string& why) {
    return "whether the container has CPUs on the NUMA node of each GPU cannot be told: " + why + "; wants the device files and /proc/driver/nvidia of its GPUs, and /sys, in the container";
  };
  if (!facts.nodes.value) return {untold(facts.nodes.trouble)};
  if (!facts.cpus.value) return {untold(facts.cpus.trouble)};
  const auto& nodes = *facts.nodes.value;
  const auto with_cpus = std::count_if(nodes.begin(), nodes.end(), [](const auto& node) { return !node.second.empty(); });
  if (with_cpus == 1) return {};  // all CPUs are equally near
  if (facts.gpus.size() < wanted.gpus) {
    return {untold(std::to_string(facts.gpus.size()) + " of " + std::to_string(wanted.gpus) + " GPUs were found by their devices /dev/nvidia*")};
  }
  std::vector<std::string> problems;
  std::map<int, std::string> far;
  for (const Gpu& gpu : facts.gpus) {
    const auto node = gpu.node ? nodes.find(*gpu.node) : nodes.end();
    if (!gpu.node) {
      problems.push_back(untold("GPU " + gpu.name + ": " + gpu.trouble));
    } else if (*gpu.node < 0) {
      problems.push_back(untold("the firmware names no NUMA node for GPU " + gpu.name + " on a machine with " + std::to_string(with_cpus)));
    } else if (node == nodes.end() || node->second.empty()) {
      problems.push_back(untold("GPU " + gpu.name + " is on NUMA node " + std::to_string(*gpu.node) + ", which has no CPUs"));
    } else if (!overlap(node->second, *facts.cpus.value)) {
      far[*gpu.node] += (far[*gpu.node].empty() ? "" : ", ") + gpu.name;
    }
  }
  for (const auto& [node, gpus] : far) {
    problems.push_back("GPU " + gpus + " is on NUMA node " + std::to_string(node) + ", the container may use CPUs " + to_string(*facts.cpus.value) + ", wants some of that node's " +
                       to_string(nodes.at(node)) + kNumaRemedy);
  }
  return problems;
}

}  // namespace

Verdict judge(const Wanted& wanted, const Facts& facts) {
  Verdict verdict{};
  judge_shared_memory(wanted, facts, verdict);
  if (wanted.rdma_devices > 0) {
    judge_locked_memory(facts, verdict);
    judge_rdma_devices(wanted, facts, verdict);
  }
  judge_limit("open files", facts.open_files, kLeastOpenFiles, kGoodOpenFiles, "Ray opens a socket for each worker and peer; raise LimitNOFILE of the container runtime", true, verdict);
  judge_limit("processes and threads", facts.processes, kLeastProcesses, kGoodProcesses, "see podPidsLimit of the kubelet and the container runtime's own limit", false, verdict);
  if (wanted.numa != Numa::None) {
    auto& list = wanted.numa == Numa::Required ? verdict.failures : verdict.warnings;
    for (std::string& problem : numa_problems(wanted, facts)) list.push_back(std::move(problem));
  }
  return verdict;
}

}  // namespace verl::incontainer
