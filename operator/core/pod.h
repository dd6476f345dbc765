// Renders the pod of one rank: everything that has to agree is filled in, the user's template is merged within its allow-list.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "operator/core/model.h"

namespace verl::core {

// What a pod of a pool asks for in all, in whole cores and bytes, and what its rank 0 gives to the driver of it.
struct PodSize {
  std::int64_t cores{0};
  Bytes memory{};
  std::int32_t gpus{0};
  std::string rdma_resource{};
  std::int32_t rdma_devices{0};
  bool operator==(const PodSize&) const = default;
};

constexpr std::int64_t kDriverCores = 1;
constexpr Bytes kLeastMemory{2 * kGiB.count};  // of a pod

// What the driver gets of the pod's memory: an eighth, between 1 and 4 GiB. The trainer's work is done by Ray's workers; what
// stays in the driver is Python with torch imported.
Bytes driver_memory(Bytes pod);

struct RankInput {
  api::RankPlacement rank{};
  PodSize size{};
  std::map<std::string, std::string> environment{};  // NCCL and Gloo, resolved for the node
};

// What a pool's pod is rendered with for the dry run, before any node is known: the template's own amounts, else one core a
// GPU and the policy's memory.
PodSize nominal_size(const api::Pool& pool, Bytes memory_per_gpu);

std::string pod_name(std::string_view job, std::int32_t attempt, std::int32_t rank);
std::string token_secret_name(std::string_view job_uid);

// Ray's logical CPUs on a node: at least what verl's placement groups take (three a GPU, the shared actors, one spare),
// whatever number of cores the pod has; it is bookkeeping of Ray, not a limit. `nodes` is the size of the gang.
std::int32_t logical_cpus(const PodSize& size, std::int32_t nodes);

// The manifest of one pod as JSON text. `all` are the ranks of the placement in rank order.
std::string render_pod(const Config& config, const api::VerlJob& job, const api::Placement& placement,
                       const std::vector<RankInput>& all, size_t index);

// The Secret without its data, owned by the job.
std::string render_token_secret(const api::VerlJob& job);

}  // namespace verl::core
