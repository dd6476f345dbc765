// RayCluster, RayJob and RayService of KubeRay, and our own VerlJob: their pods, and what an import could not take over.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "diagnosis/kubernetes/manifest.h"
#include "diagnosis/rule.h"

namespace verl::diagnosis::manifest {
namespace {

constexpr std::int64_t kRandomSuffix = 5;    // what the API server adds to a generateName
constexpr std::int64_t kDerivedSuffix = 31;  // "-raycluster-k7x2q-redis-cleanup", the longest name KubeRay derives of a job or service
constexpr std::int64_t kLongestLabel = 63;

constexpr std::array<std::string_view, 14> kJobFields{"rayClusterSpec", "entrypoint", "entrypointNumCpus", "entrypointNumGpus", "entrypointResources", "runtimeEnvYAML", "metadata",
                                                      "shutdownAfterJobFinishes", "ttlSecondsAfterFinished", "activeDeadlineSeconds", "backoffLimit", "suspend", "submissionMode", "jobId"};
constexpr std::array<std::string_view, 3> kClusterFields{"rayVersion", "headGroupSpec", "workerGroupSpecs"};

constexpr std::array<std::string_view, 5> kQueueLabels{"kai.scheduler/queue", "kueue.x-k8s.io/queue-name", "volcano.sh/queue-name", "runai/queue", "yunikorn.apache.org/queue"};

// Members of lists are named one by one, for each may matter alone.
void unsupported(Context& context, const Object& object, const std::string& where, const Json& value, int depth) {
  constexpr int kDeepest = 2;
  if (depth < kDeepest && value.is_object() && !value.empty()) {
    const bool list = std::any_of(value.begin(), value.end(), [](const Json& one) { return one.is_array(); });
    if (list) {
      for (const auto& item : value.items()) unsupported(context, object, where + "." + item.key(), item.value(), depth + 1);
      return;
    }
  }
  if (value.is_array() && !value.empty()) {
    for (size_t i = 0; i < value.size() && i < 50; ++i) unsupported(context, object, fmt::format("{}[{}]", where, i), value[i], kDeepest);
    return;
  }
  Finding finding = finding_of("ray-unsupported-field", where);
  finding.message = fmt::format("{}: {} has no counterpart in a VerlJob and would be lost", object.title, where);
  const size_t dot = where.rfind('.');
  const std::string last = where.substr(dot == std::string::npos ? 0 : dot + 1);
  add(context, std::move(finding), last.substr(0, last.find('[')));
}

template <size_t N>
void judge_fields(Context& context, const Object& object, const Json& spec, const std::array<std::string_view, N>& known, const std::string& where) {
  for (const auto& item : spec.items()) {
    if (std::find(known.begin(), known.end(), item.key()) == known.end()) unsupported(context, object, where + "." + item.key(), item.value(), 0);
  }
}

void judge_name(Context& context, const Object& object) {
  const Json& metadata = at(object.json, "metadata");
  const bool generated = text_at(metadata, "name").empty() && !text_at(metadata, "generateName").empty();
  const std::int64_t length = static_cast<std::int64_t>(object.name.size()) + (generated ? kRandomSuffix : 0);
  put(context, object, "name_length", length);
  if (object.kind == "RayCluster" || length + kDerivedSuffix <= kLongestLabel) return;
  Finding finding = finding_of("ray-name-length", object.name);
  finding.seen = std::to_string(length);
  finding.wanted = fmt::format("at most {}", kLongestLabel - kDerivedSuffix);
  finding.message = fmt::format("{}: names derived of its name{} reach {} characters, {} are allowed", object.title, generated ? " (prefix and 5 random characters)" : "", length + kDerivedSuffix, kLongestLabel);
  add(context, std::move(finding), object.name);
}

void judge_queue(Context& context, const Object& object) {
  for (const auto& item : path(object.json, {"metadata", "labels"}).items()) {
    if (std::find(kQueueLabels.begin(), kQueueLabels.end(), item.key()) == kQueueLabels.end() || !item.value().is_string()) continue;
    const std::string queue = item.value().get<std::string>();
    put(context, object, "labels." + item.key(), queue);
    Finding finding = finding_of("workload-foreign-queue", item.key());
    finding.seen = queue;
    finding.message = fmt::format("{} waits in queue {} of another scheduler ({}): the label is kept, and no second gang or placement is laid over it", object.title, queue, item.key());
    add(context, std::move(finding), item.key());
  }
}

void info(Context& context, const Object& object, std::string_view id, std::string message) {
  Finding finding = finding_of(id, object.name);
  finding.message = std::move(message);
  finding.remedy.clear();
  add(context, std::move(finding), object.name);
}

void judge_images(Context& context, const Object& object, const PodShape& head, const PodShape& worker, const std::string& group) {
  if (head.image.empty() || worker.image.empty() || head.image == worker.image) return;
  Finding finding = finding_of("ray-images-differ", group);
  finding.seen = worker.image;
  finding.wanted = head.image;
  finding.message = fmt::format("{}: worker group {} runs {}, the head {}: Ray and Python must be the same everywhere", object.title, group, worker.image, head.image);
  add(context, std::move(finding), worker.image);
}

}  // namespace

void read_ray(Context& context, const Object& object) {
  const Json& own = at(object.json, "spec");
  const Json& cluster = object.kind == "RayJob" ? at(own, "rayClusterSpec") : object.kind == "RayService" ? at(own, "rayClusterConfig") : own;
  if (object.kind == "RayJob") judge_fields(context, object, own, kJobFields, "spec");
  judge_fields(context, object, cluster, kClusterFields, object.kind == "RayJob" ? "spec.rayClusterSpec" : object.kind == "RayService" ? "spec.rayClusterConfig" : "spec");
  judge_name(context, object);
  judge_queue(context, object);

  const Json& groups = at(cluster, "workerGroupSpecs");
  std::int64_t workers = 0;
  for (const Json& group : groups) {
    workers += std::clamp<std::int64_t>(number_at(group, "replicas", 1), 0, 1 << 20) * std::clamp<std::int64_t>(number_at(group, "numOfHosts", 1), 1, 1 << 10);
  }
  const Json& head_spec = path(cluster, {"headGroupSpec", "template", "spec"});
  const PodShape head = read_pod_spec(context, object, head_spec, "head ", workers > 0);
  std::int64_t gpus = head.gpus;
  std::int64_t gpu_nodes = head.gpus > 0 ? 1 : 0;
  bool tls = head.tls;
  for (const Json& group : groups) {
    const std::string name = text_at(group, "groupName");
    const PodShape worker = read_pod_spec(context, object, path(group, {"template", "spec"}), "worker group " + name + " ", workers + gpu_nodes > 1);
    const std::int64_t count = std::clamp<std::int64_t>(number_at(group, "replicas", 1), 0, 1 << 20) * std::clamp<std::int64_t>(number_at(group, "numOfHosts", 1), 1, 1 << 10);
    gpus += worker.gpus * count;
    if (worker.gpus > 0) gpu_nodes += count;
    tls = tls || worker.tls;
    judge_images(context, object, head, worker, name);
  }
  put(context, object, "ray_version", text_at(cluster, "rayVersion"));
  put(context, object, "workers", workers);
  put(context, object, "gpus", gpus);
  put(context, object, "gpu_nodes", gpu_nodes);
  if (gpus == 0) info(context, object, "ray-no-gpu", fmt::format("{} asks for no GPU", object.title));
  if (head.gpus > 0) info(context, object, "ray-head-carries-gpus", fmt::format("{}: the head has {} GPUs: it counts in nodes times GPUs per node", object.title, head.gpus));
  if (tls) info(context, object, "ray-certificates-need-time", fmt::format("{}: certificates are made when pods start, so the clocks of all nodes have to be checked: a skewed one gives \"certificate is not yet valid\"", object.title));
}

void read_verl_job(Context& context, const Object& object) {
  std::int64_t nodes = 0;
  std::int64_t gpus = 0;
  for (const Json& pool : path(object.json, {"spec", "pools"})) {
    const std::int64_t count = std::clamp<std::int64_t>(number_at(pool, "nodes", 0), 0, 1 << 20);
    nodes += count;
    gpus += count * std::clamp<std::int64_t>(number_at(pool, "gpusPerNode", 0), 0, 1 << 10);
    Reading aside;  // the operator adds /dev/shm, IPC_LOCK and resources itself: of the pods only the environment is judged
    Context own{aside, context.lines, context.options};
    read_pod_spec(own, object, path(pool, {"template", "spec"}), "pool " + text_at(pool, "name") + " ", false);
    for (const auto& [name, facts] : aside.nodes) {
      for (const nccl::Environment& one : facts.nccl.environments) own_node(context.reading).nccl.environments.push_back(one);
    }
  }
  put(context, object, "nodes", nodes);
  put(context, object, "gpus", gpus);
}

}  // namespace verl::diagnosis::manifest
