#include "operator/core/admission.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "base/quantity.h"
#include "base/text.h"
#include "operator/core/nccl_environment.h"
#include "operator/core/pod.h"
#include "operator/core/pod_template.h"
#include "operator/core/trainer.h"

namespace verl::core {
namespace {

// As in the CRD.
constexpr std::int32_t kMostNodes = 1024;
constexpr std::int32_t kMostGpus = 16;

void add(std::vector<std::string>& all, std::vector<std::string> more) { all.insert(all.end(), more.begin(), more.end()); }

bool known_level(const Config& config, const std::optional<api::Topology>& topology) {
  return !topology || std::any_of(config.levels.begin(), config.levels.end(), [&](const Level& l) { return l.name == topology->level; });
}

std::string level_names(const Config& config) {
  std::vector<std::string> names;
  for (const Level& level : config.levels) names.push_back(level.name);
  return names.empty() ? "none is configured" : join(names, ", ");
}

const api::PriorityClass* class_of(const ClusterSnapshot& snapshot, const std::string& name) {
  const auto found = std::find_if(snapshot.priority_classes.begin(), snapshot.priority_classes.end(),
                                  [&](const auto& c) { return c->meta.name == name; });
  return found == snapshot.priority_classes.end() ? nullptr : found->get();
}

// "requests.cpu", "cpu", "limits.cpu", "pods", "count/pods" → what one pod takes of it; nothing for keys we do not count.
std::optional<std::int64_t> taken(const std::string& key, const api::Resources& requests) {
  if (key == "pods" || key == "count/pods") return 1000;
  std::string resource = key;
  for (const std::string_view prefix : {"requests.", "limits."}) {
    if (key.starts_with(prefix)) resource = key.substr(prefix.size());
  }
  const auto found = requests.find(resource);
  if (found == requests.end()) return std::nullopt;
  return found->second;
}

std::string amount(std::int64_t milli) { return milli % 1000 == 0 ? std::to_string(milli / 1000) : fmt::format("{}m", milli); }

// The driver gets its command line as JSON in one environment variable, of which Linux takes 128 KiB with its name and end
// (MAX_ARG_STRLEN): one byte more and the container cannot be started at all. The CRD allows several times as much in all.
std::vector<std::string> trainer_length_problems(const api::VerlJobSpec& spec) {
  constexpr std::size_t kLongestVariable = 128 * 1024;
  const std::string text = nlohmann::json(trainer_argv(spec)).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  const std::size_t length = std::string_view("VERL_RUN_TRAINER=").size() + text.size() + 1;
  if (length <= kLongestVariable) return {};
  return {fmt::format("spec.trainer: command line and overrides take {} bytes in all, wanted at most {}, which is what Linux passes to a program in one piece; "
                      "put large settings into a file of the image or of a volume",
                      length, kLongestVariable)};
}

}  // namespace

std::optional<AdmissionProblem> spec_problem(const Config& config, const api::VerlJob& job,
                                             const std::vector<std::string>& allowed_host_paths) {
  std::vector<std::string> faults = job.unreadable;
  if (job.spec.image.empty()) faults.emplace_back("spec.image: is empty");
  if (job.spec.pools.empty()) faults.emplace_back("spec.pools: a job needs at least one pool");
  std::set<std::string> names;
  std::int64_t nodes = 0;
  for (size_t i = 0; i < job.spec.pools.size(); ++i) {
    const api::Pool& pool = job.spec.pools[i];
    const std::string field = fmt::format("spec.pools[{}]", i);
    if (!names.insert(pool.name).second) faults.push_back(fmt::format("{}.name: {} appears twice", field, pool.name));
    if (pool.nodes > kMostNodes) faults.push_back(fmt::format("{}.nodes: {}; a pool has at most {} nodes", field, pool.nodes, kMostNodes));
    if (pool.gpus_per_node > kMostGpus) {
      faults.push_back(fmt::format("{}.gpusPerNode: {}; a node has at most {} GPUs, ask for more nodes", field, pool.gpus_per_node, kMostGpus));
    }
    nodes += pool.nodes;
    if (pool.nodes < 1) faults.push_back(fmt::format("{}.nodes: {}; a pool needs at least one node", field, pool.nodes));
    if (pool.gpus_per_node < 1) faults.push_back(fmt::format("{}.gpusPerNode: {}; a pool needs at least one GPU per node", field, pool.gpus_per_node));
    add(faults, template_problems(pool.template_json, field + ".template", allowed_host_paths));
    if (const auto memory = template_resources(pool.template_json).memory; memory && *memory / 1000 < kLeastMemory.count) {
      faults.push_back(fmt::format("{}.template: container ray asks for {} of memory; Ray and the driver need at least {}", field,
                                   format_bytes_quantity(*memory / 1000), format_bytes_quantity(kLeastMemory.count)));
    }
    if (!known_level(config, pool.topology)) {
      faults.push_back(fmt::format("{}.topology.level: {} is no level of this cluster; levels: {}", field, pool.topology->level, level_names(config)));
    }
  }
  if (nodes > kMostNodes && job.spec.pools.size() > 1) {
    faults.push_back(fmt::format("spec.pools: {} nodes; all pools together may have at most {}", nodes, kMostNodes));
  }
  if (!known_level(config, job.spec.topology)) {
    faults.push_back(fmt::format("spec.topology.level: {} is no level of this cluster; levels: {}", job.spec.topology->level, level_names(config)));
  }
  add(faults, trainer_problems(job.spec));
  add(faults, trainer_length_problems(job.spec));
  add(faults, nccl_env_problems(job.spec.nccl_env));
  if (faults.empty()) return std::nullopt;
  return AdmissionProblem{.reason = "InvalidSpec", .message = escape_controls(join_some(faults, 5)), .terminal = true};
}

std::optional<AdmissionProblem> memory_problem(const ClusterSnapshot& snapshot, const api::VerlJob& job) {
  const bool by_policy = std::any_of(snapshot.policies.begin(), snapshot.policies.end(), [](const auto& p) {
    return p->spec.memory_per_gpu.has_value() || !p->unreadable.empty();  // what cannot be read may say it
  });
  if (by_policy || snapshot.policies.empty()) return std::nullopt;
  for (size_t i = 0; i < job.spec.pools.size(); ++i) {
    if (template_resources(job.spec.pools[i].template_json).memory) continue;
    return AdmissionProblem{.reason = "MemoryUnknown",
                            .message = fmt::format("spec.pools[{}].template: container ray asks for no memory, and no ReadinessPolicy has memoryPerGPU; give one "
                                                   "of them, for example resources.requests.memory: 1600Gi",
                                                   i),
                            .terminal = true};
  }
  return std::nullopt;
}

std::int32_t priority_of(const ClusterSnapshot& snapshot, const api::VerlJob& job) {
  const api::PriorityClass* found = class_of(snapshot, job.spec.priority_class);
  return found == nullptr ? 0 : found->value;
}

std::optional<AdmissionProblem> priority_problem(const ClusterSnapshot& snapshot, const api::VerlJob& job) {
  const std::string& name = job.spec.priority_class;
  const api::PriorityClass* found = class_of(snapshot, name);
  if (found == nullptr) {
    return AdmissionProblem{.reason = "PriorityClassNotFound",
                            .message = fmt::format("spec.priorityClassName: there is no PriorityClass {}; the chart installs {}", name,
                                                   snapshot.config.default_priority_class)};
  }
  if (!found->may_preempt) return std::nullopt;
  return AdmissionProblem{.reason = "PriorityClassMayPreempt",
                          .message = fmt::format("spec.priorityClassName: {} has preemptionPolicy PreemptLowerPriority, wants Never: its pods are pinned "
                                                 "to nodes and would push other jobs off them; use {}",
                                                 name, snapshot.config.default_priority_class)};
}

std::optional<AdmissionProblem> quota_problem(const ClusterSnapshot& snapshot, const api::VerlJob& job,
                                              const std::vector<api::Resources>& per_pod, const std::vector<api::Resources>& promised) {
  std::vector<const api::ResourceQuota*> quotas;
  for (const auto& quota : snapshot.quotas) {
    if (quota->meta.name_space == job.meta.name_space && !quota->scoped) quotas.push_back(quota.get());
  }
  std::sort(quotas.begin(), quotas.end(), [](const auto* a, const auto* b) { return a->meta.name < b->meta.name; });
  const auto sum = [](const std::string& key, const std::vector<api::Resources>& pods) {
    std::optional<std::int64_t> all;
    for (const api::Resources& requests : pods) {
      const auto one = taken(key, requests);
      if (!one) continue;
      std::int64_t more = 0;
      all = __builtin_add_overflow(all.value_or(0), *one, &more) ? std::numeric_limits<std::int64_t>::max() : more;
    }
    return all;
  };
  for (const api::ResourceQuota* quota : quotas) {
    if (!quota->unreadable.empty()) {
      return AdmissionProblem{.reason = "QuotaUnreadable",
                              .message = fmt::format("ResourceQuota {} cannot be read ({}), so whether the gang fits in it is not known", quota->meta.name,
                                                     join_some(quota->unreadable, 3))};
    }
    for (const auto& [key, hard] : quota->hard) {
      const auto wanted = sum(key, per_pod);
      if (!wanted) continue;
      const std::int64_t gang = *wanted;
      const auto used = quota->used.find(key);
      const std::int64_t in_use = (used == quota->used.end() ? 0 : used->second) + sum(key, promised).value_or(0);
      if (gang <= hard - in_use) continue;
      return AdmissionProblem{.reason = "QuotaExceeded",
                              .message = fmt::format("ResourceQuota {} allows {} of {} and {} are in use; the gang of {} pods needs {}", quota->meta.name,
                                                     amount(hard), key, amount(in_use), per_pod.size(), amount(gang))};
    }
  }
  return std::nullopt;
}

}  // namespace verl::core
