// What the container allows: shared and locked memory, files, CPUs, namespaces.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "diagnosis/nccl/devices.h"
#include "diagnosis/nccl/hardware.h"

namespace verl::nccl {
namespace {

using diagnosis::Finding;
using diagnosis::Findings;
using diagnosis::Severity;

constexpr std::int64_t kMiB = 1024 * 1024;

// [heuristic] One rank opens segments of some 9 to 33 MB for each neighbour it reaches over shared memory; 64 MiB, the default
// of containers, is too little for any node of several GPUs.
constexpr std::int64_t kDefaultShm = 64 * kMiB;
constexpr std::int64_t kShmPerRank = 32 * kMiB;

void judge_shared_memory(const Situation& situation, Findings& out) {
  const auto& size = situation.node->kubernetes.shm_bytes;
  if (!size || number_of(situation, "NCCL_SHM_DISABLE") == 1) return;
  const HostFacts& host = situation.node->nccl.host;
  const auto gpus = static_cast<std::int64_t>(situation.node->topology.gpus.size());
  const std::int64_t ranks = host.local_ranks ? *host.local_ranks : situation.policy->gpus ? *situation.policy->gpus : gpus;
  if (ranks == 1) return;
  const std::int64_t need = std::max(kDefaultShm + 1, std::clamp<std::int64_t>(ranks, 0, 1024) * kShmPerRank);
  if (*size >= need) return;
  Finding finding = finding_about(situation, "NCCL326", "/dev/shm");
  finding.seen = fmt::format("{} MiB", *size / kMiB);
  finding.message = ranks > 0 ? fmt::format("/dev/shm has {}, and {} ranks of the node need some {} MiB", finding.seen, ranks, need / kMiB)
                              : fmt::format("/dev/shm has {}, no more than a container's default of 64 MiB", finding.seen);
  out.push_back(std::move(finding));
}

void judge_locked_memory(const Situation& situation, Findings& out) {
  const auto& limit = situation.node->kubernetes.memlock_bytes;
  const HostFacts& host = situation.node->nccl.host;
  if (!limit || *limit < 0 || host.ipc_lock == true || !may_use_rdma(situation)) return;
  if (devices_of(situation).alive.empty() && !situation.policy->gpudirect && situation.policy->expected_network != "IB") return;
  Finding finding = finding_about(situation, "NCCL327", "memlock");
  finding.seen = fmt::format("{} B", *limit);
  if (host.ipc_lock) {
    finding.message = fmt::format("locked memory is limited to {} and the container has no IPC_LOCK: registering memory for RDMA fails", finding.seen);
  } else {
    finding.severity = Severity::Unknown;
    finding.message = fmt::format("locked memory is limited to {}, and whether the container has IPC_LOCK is not known", finding.seen);
  }
  out.push_back(std::move(finding));
}

void judge_topology_file(const Situation& situation, Findings& out) {
  const auto path = text_of(situation, "NCCL_TOPO_FILE");
  if (!path) return;
  const HostFacts& host = situation.node->nccl.host;
  const auto file = host.files.find(*path);
  if (file == host.files.end()) return;
  Finding finding = finding_about(situation, "NCCL328", "NCCL_TOPO_FILE");
  const bool other = !file->second.instance_type.empty() && !host.instance_type.empty() && file->second.instance_type != host.instance_type;
  if (file->second.malformed == true) {
    finding.severity = Severity::Error;
    finding.message = fmt::format("{} cannot be parsed, so NCCL does not start", *path);
  } else if (file->second.present == false) {
    finding.message = fmt::format("{} is not there: NCCL detects the topology itself and says so only at INFO", *path);
  } else if (other) {
    finding.message = fmt::format("{} is made for {}, and this node is {}", *path, file->second.instance_type, host.instance_type);
  } else {
    return;
  }
  out.push_back(std::move(finding));
}

struct CpuRange {
  std::int32_t first{0};
  std::int32_t last{0};
};

// "0-3,8"; nothing for other text.
std::optional<std::vector<CpuRange>> cpu_ranges(std::string_view text) {
  std::vector<CpuRange> ranges;
  for (const std::string_view part : split(trim(text), ',')) {
    const size_t dash = part.find('-');
    const auto first = parse_int<std::int32_t>(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_int<std::int32_t>(part.substr(dash + 1));
    if (!first || !last || *first < 0 || *last < *first) return std::nullopt;
    ranges.push_back({.first = *first, .last = *last});
  }
  std::sort(ranges.begin(), ranges.end(), [](const CpuRange& a, const CpuRange& b) { return a.first < b.first; });
  return ranges;
}

// The first CPU of `some` that is not in `all`.
std::optional<std::int32_t> first_outside(const std::vector<CpuRange>& some, const std::vector<CpuRange>& all) {
  for (const CpuRange& range : some) {
    std::int32_t next = range.first;
    for (const CpuRange& one : all) {
      if (one.first <= next && next <= one.last) {
        if (one.last >= range.last) {
          next = -1;
          break;
        }
        next = one.last + 1;
      }
    }
    if (next >= 0) return next;
  }
  return std::nullopt;
}

void judge_cpus(const Situation& situation, Findings& out) {
  const auto text = text_of(situation, "NCCL_PROXY_CPUSET");
  const auto& allowed = situation.node->nccl.host.cpuset;
  if (!text || !allowed) return;
  const auto wanted = cpu_ranges(*text);
  const auto all = cpu_ranges(*allowed);
  if (!wanted || !all) return;
  const auto outside = first_outside(*wanted, *all);
  if (!outside) return;
  Finding finding = finding_about(situation, "NCCL329", "NCCL_PROXY_CPUSET");
  finding.message = fmt::format("NCCL_PROXY_CPUSET={} names CPU {}, and the container may use {}", *text, *outside, *allowed);
  out.push_back(std::move(finding));
}

void judge_local_sockets(const Situation& situation, Findings& out) {
  constexpr Version kAbstract = version(2, 29);
  if (situation.version && *situation.version < kAbstract) return;
  if (number_of(situation, "NCCL_IPC_USE_ABSTRACT_SOCKET") == 0) return;
  std::map<std::string, std::string> first_of;  // namespace -> a process in it
  for (const HostProcess& one : situation.node->nccl.host.processes) {
    if (!one.network_namespace.empty()) first_of.emplace(one.network_namespace, one.name);
  }
  if (first_of.size() < 2) return;
  Finding finding = finding_about(situation, "NCCL336", "NCCL_IPC_USE_ABSTRACT_SOCKET");
  std::vector<std::string> names;
  for (const auto& [space, name] : first_of) names.push_back(fmt::format("{} in {}", name, space));
  if (!situation.version) finding.severity = Severity::Warning;
  finding.wanted = "0";
  finding.message = fmt::format("the ranks of this node are in {} network namespaces ({}), and abstract sockets do not reach from one to another", first_of.size(),
                                join_some(names, 8));
  out.push_back(std::move(finding));
}

}  // namespace

void judge_container(const Situation& situation, Findings& out) {
  judge_shared_memory(situation, out);
  judge_locked_memory(situation, out);
  judge_topology_file(situation, out);
  judge_cpus(situation, out);
  judge_local_sockets(situation, out);
}

}  // namespace verl::nccl
