#include "operator/core/pod.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/quantity.h"
#include "base/text.h"
#include "operator/core/incontainer_scripts.h"
#include "operator/core/json_at.h"
#include "operator/core/pod_template.h"
#include "operator/core/trainer.h"

namespace verl::core {
namespace {

using nlohmann::json;

constexpr const char* kTerminationLog = "/dev/verl-termination-log";
constexpr const char* kToolsFolder = "/run/verl/bin";
constexpr std::int32_t kPortsInUse = 11;
constexpr std::int32_t kAgentHttpPort = 6;  // of the block, as in ray_node.sh

// Names come from objects that others wrote; broken UTF-8 in one must not throw.
std::string dumped(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

json owner_reference(const api::VerlJob& job) {
  return json::array({{{"apiVersion", "verl.run/v1alpha1"},
                       {"kind", "VerlJob"},
                       {"name", job.meta.name},
                       {"uid", job.meta.uid},
                       {"controller", true},
                       {"blockOwnerDeletion", true}}});
}

json labels_of(const api::VerlJob& job, std::string_view component) {
  return {{"app.kubernetes.io/name", "verl"},
          {"app.kubernetes.io/instance", job.meta.name},
          {"app.kubernetes.io/component", component},
          {"app.kubernetes.io/part-of", job.meta.name},
          {"app.kubernetes.io/managed-by", "verl-operator"},
          {std::string(api::kJobNameLabel), job.meta.name}};
}

// Kubernetes expands $(NAME) in values and reads $$ as one dollar; what users wrote has to arrive as they wrote it.
std::string literal(const std::string& value) {
  std::string out;
  for (const char c : value) out += c == '$' ? std::string("$$") : std::string(1, c);
  return out;
}

json env_list(const std::map<std::string, std::string>& values) {
  json list = json::array();
  for (const auto& [name, value] : values) list.push_back({{"name", name}, {"value", literal(value)}});
  return list;
}

// Ours first, so that the user's can refer to them; a name of ours that the user repeats has been refused before.
void append(json& list, const json* more) {
  if (more == nullptr || !more->is_array()) return;
  for (const json& item : *more) list.push_back(item);
}

const json* container_named(const json* containers, std::string_view name) {
  if (containers == nullptr || !containers->is_array()) return nullptr;
  for (const json& container : *containers) {
    const json* found = json_at(container, {"name"});
    if (found != nullptr && *found == name) return &container;
  }
  return nullptr;
}

json port_list(std::int32_t base) {
  constexpr std::array<const char*, kPortsInUse> kNames{"gcs",        "dashboard",  "client",  "node-mgr",  "object-mgr", "runtime-env",
                                                        "agent-http", "agent-grpc", "metrics", "dash-mtrc", "scaler-mtrc"};
  json list = json::array();
  for (std::int32_t i = 0; i < kPortsInUse; ++i) {
    list.push_back({{"name", kNames[static_cast<size_t>(i)]}, {"containerPort", base + i}, {"hostPort", base + i}, {"protocol", "TCP"}});
  }
  return list;
}

struct Share {
  std::int64_t cores{0};
  std::int64_t memory{0};
};

// requests = limits in every container, so that the kubelet's static managers give whole cores.
json resources_of(Share share, const PodSize* devices, const Config& config) {
  json amounts{{"cpu", std::to_string(share.cores)}, {"memory", format_bytes_quantity(share.memory)}};
  if (devices != nullptr) {
    amounts[config.gpu_resource] = std::to_string(devices->gpus);
    if (!devices->rdma_resource.empty() && devices->rdma_devices > 0) amounts[devices->rdma_resource] = std::to_string(devices->rdma_devices);
  }
  return {{"requests", amounts}, {"limits", amounts}};
}

// Extra resources of the user's (hugepages, ephemeral storage) on top; cpu and memory are in the pod's size already.
void merge_resources(json& resources, const json* user) {
  for (const char* kind : {"requests", "limits"}) {
    const json* asked = user == nullptr ? nullptr : json_at(*user, {"resources", kind});
    if (asked == nullptr || !asked->is_object()) continue;
    for (const auto& item : asked->items()) {
      if (item.key() == "cpu" || item.key() == "memory" || resources["limits"].contains(item.key())) continue;
      resources["requests"][item.key()] = item.value();
      resources["limits"][item.key()] = item.value();
    }
  }
}

class Renderer {
 public:
  Renderer(const Config& config, const api::VerlJob& job, const api::Placement& placement, const std::vector<RankInput>& all, size_t index)
      : config_(config), job_(job), placement_(placement), all_(all), self_(all[index]), head_(index == 0) {
    const auto pool = std::find_if(job.spec.pools.begin(), job.spec.pools.end(),
                                   [&](const api::Pool& p) { return p.name == self_.rank.pool; });
    template_ = pool == job.spec.pools.end() ? json::object() : json::parse(pool->template_json, nullptr, false);
    if (!template_.is_object()) template_ = json::object();
  }

  json pod() const {
    json labels = labels_of(job_, head_ ? "ray-head" : "ray-worker");
    labels[std::string(api::kAttemptLabel)] = std::to_string(placement_.attempt);
    labels[std::string(api::kRankLabel)] = std::to_string(self_.rank.rank);
    labels[std::string(api::kPoolLabel)] = self_.rank.pool;
    json annotations{{"karpenter.sh/do-not-disrupt", "true"}, {"cluster-autoscaler.kubernetes.io/safe-to-evict", "false"}};
    merge_map(labels, json_at(template_, {"metadata", "labels"}));
    merge_map(annotations, json_at(template_, {"metadata", "annotations"}));
    return {{"apiVersion", "v1"},
            {"kind", "Pod"},
            {"metadata",
             {{"name", pod_name(job_.meta.name, placement_.attempt, self_.rank.rank)},
              {"namespace", job_.meta.name_space},
              {"labels", labels},
              {"annotations", annotations},
              {"ownerReferences", owner_reference(job_)}}},
            {"spec", spec()}};
  }

 private:
  static void merge_map(json& into, const json* more) {
    if (more == nullptr || !more->is_object()) return;
    for (const auto& item : more->items()) {
      if (!into.contains(item.key())) into[item.key()] = item.value();
    }
  }

  json spec() const {
    json spec{{"hostNetwork", true},
              {"dnsPolicy", "ClusterFirstWithHostNet"},
              {"restartPolicy", "Never"},
              {"enableServiceLinks", false},
              {"automountServiceAccountToken", false},
              {"priorityClassName", job_.spec.priority_class},
              {"affinity", affinity()},
              {"tolerations", tolerations()},
              {"volumes", volumes()},
              {"initContainers", json::array({tools()})},
              {"containers", json::array({ray()})}};
    // A Ray driver finds its raylet by looking for its process.
    if (head_) {
      spec["shareProcessNamespace"] = true;
      spec["containers"].push_back(driver());
    }
    for (const char* field : {"nodeSelector", "imagePullSecrets", "serviceAccountName", "automountServiceAccountToken",
                              "securityContext", "terminationGracePeriodSeconds", "runtimeClassName"}) {
      if (const json* value = json_at(template_, {"spec", field})) spec[field] = *value;
    }
    append(spec["initContainers"], json_at(template_, {"spec", "initContainers"}));
    if (const json* containers = json_at(template_, {"spec", "containers"}); containers != nullptr && containers->is_array()) {
      for (const json& container : *containers) {
        const json* name = json_at(container, {"name"});
        if (name != nullptr && *name != "ray") spec["containers"].push_back(container);
      }
    }
    return spec;
  }

  json affinity() const {
    const json field{{"key", "metadata.name"}, {"operator", "In"}, {"values", json::array({self_.rank.node})}};
    const json terms = json::array({{{"matchFields", json::array({field})}}});
    return {{"nodeAffinity", {{"requiredDuringSchedulingIgnoredDuringExecution", {{"nodeSelectorTerms", terms}}}}}};
  }

  json tolerations() const {
    // Explicit, so that no admission plugin's default decides how long a lost node holds a rank.
    json list = json::array();
    for (const char* key : {"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"}) {
      list.push_back({{"key", key}, {"operator", "Exists"}, {"effect", "NoExecute"}, {"tolerationSeconds", 60}});
    }
    list.push_back({{"key", config_.gpu_resource}, {"operator", "Exists"}, {"effect", "NoSchedule"}});
    append(list, json_at(template_, {"spec", "tolerations"}));
    return list;
  }

  json volumes() const {
    json list = json::array({{{"name", "ray-tmp"}, {"emptyDir", json::object()}},
                             {{"name", "verl-bin"}, {"emptyDir", json::object()}},
                             {{"name", "shm"}, {"emptyDir", {{"medium", "Memory"}, {"sizeLimit", format_bytes_quantity(shm())}}}}});
    if (token()) list.push_back({{"name", "ray-token"}, {"secret", {{"secretName", token_secret_name(job_.meta.uid)}, {"defaultMode", 0444}}}});
    append(list, json_at(template_, {"spec", "volumes"}));
    return list;
  }

  json mounts(const json* user, bool with_tools) const {
    json list = json::array({{{"name", "ray-tmp"}, {"mountPath", "/tmp/ray"}}, {{"name", "shm"}, {"mountPath", "/dev/shm"}}});
    if (token()) list.push_back({{"name", "ray-token"}, {"mountPath", "/run/verl/ray-token"}, {"readOnly", true}});
    if (with_tools) list.push_back({{"name", "verl-bin"}, {"mountPath", kToolsFolder}, {"readOnly", true}});
    append(list, user == nullptr ? nullptr : json_at(*user, {"volumeMounts"}));
    return list;
  }

  std::map<std::string, std::string> common_environment() const {
    std::map<std::string, std::string> env = self_.environment;
    env["RAY_ADDRESS"] = fmt::format("{}:{}", all_[0].rank.address, placement_.port_base);
    env["RAY_AUTH_MODE"] = token() ? "token" : "disabled";
    if (token()) env["RAY_AUTH_TOKEN_PATH"] = "/run/verl/ray-token/auth_token";
    env["VERL_RUN_HEAD_ADDRESS"] = all_[0].rank.address;
    env["VERL_RUN_PORT_BASE"] = std::to_string(placement_.port_base);
    env["VERL_RUN_TERMINATION_LOG"] = kTerminationLog;
    return env;
  }

  // Brings the program that looks at container ray from inside, so that images of jobs need none of ours. What it asks for is
  // far below what the containers ask for together, so the pod's effective requests stay theirs.
  json tools() const {
    const json amounts{{"cpu", "100m"}, {"memory", "64Mi"}};
    return {{"name", "verl-check"},
            {"image", config_.tools_image},
            {"command", json::array({"/usr/bin/verl-container-check", "install", kToolsFolder})},
            {"resources", {{"requests", amounts}, {"limits", amounts}}},
            {"terminationMessagePolicy", "FallbackToLogsOnError"},
            {"volumeMounts", json::array({{{"name", "verl-bin"}, {"mountPath", kToolsFolder}}})},
            {"securityContext",
             {{"runAsNonRoot", true},
              {"runAsUser", 65532},
              {"runAsGroup", 65532},
              {"allowPrivilegeEscalation", false},
              {"readOnlyRootFilesystem", true},
              {"seccompProfile", {{"type", "RuntimeDefault"}}},
              {"capabilities", {{"drop", json::array({"ALL"})}}}}}};
  }

  json ray() const {
    const json* user = container_named(json_at(template_, {"spec", "containers"}), "ray");
    auto env = common_environment();
    env["VERL_RUN_ROLE"] = head_ ? "head" : "worker";
    env["VERL_RUN_RANK"] = std::to_string(self_.rank.rank);
    env["VERL_RUN_NODE_ADDRESS"] = self_.rank.address;
    env["VERL_RUN_GPUS"] = std::to_string(self_.size.gpus);
    env["VERL_RUN_CPUS"] = std::to_string(logical_cpus(self_.size, static_cast<std::int32_t>(all_.size())));
    env["VERL_RUN_CHECK"] = std::string(kToolsFolder) + "/verl-container-check";
    env["VERL_RUN_NUMA"] = std::string(to_string(job_.spec.numa));
    env["VERL_RUN_SHM_BYTES"] = std::to_string(shm());
    if (self_.size.rdma_devices > 0 && !self_.size.rdma_resource.empty()) env["VERL_RUN_RDMA_DEVICES"] = std::to_string(self_.size.rdma_devices);
    env["VERL_RUN_OBJECT_STORE_BYTES"] = std::to_string(shm() / 10 * 6);
    if (!head_) env["VERL_RUN_JOIN_SECONDS"] = std::to_string((job_.spec.deadlines.image_pull + job_.spec.deadlines.starting).count());
    Share share{.cores = self_.size.cores, .memory = self_.size.memory.count};
    if (head_) {
      share.cores -= kDriverCores;
      share.memory -= driver_memory(self_.size.memory).count;
    }
    json container{{"name", "ray"},
                   {"image", job_.spec.image},
                   {"command", json::array({"/bin/sh", "-c", std::string(kRayNodeScript), "ray_node.sh"})},
                   {"env", env_list(env)},
                   {"ports", port_list(placement_.port_base)},
                   {"resources", resources_of(share, &self_.size, config_)},
                   {"terminationMessagePath", kTerminationLog},
                   {"volumeMounts", mounts(user, true)},
                   // Ready means that this node's raylet lives and is in the cluster; Ray answers this path without its token.
                   {"readinessProbe",
                    {{"httpGet", {{"path", "/api/local_raylet_healthz"}, {"port", placement_.port_base + kAgentHttpPort}, {"scheme", "HTTP"}}},
                     {"periodSeconds", 5},
                     {"timeoutSeconds", 5}}},
                   {"securityContext", {{"capabilities", {{"add", json::array({"IPC_LOCK"})}}}}}};
    merge_user(container, user);
    merge_resources(container["resources"], user);
    return container;
  }

  json driver() const {
    const json* user = container_named(json_at(template_, {"spec", "containers"}), "ray");
    auto env = common_environment();
    env["VERL_RUN_RAY_AUTH"] = token() ? "token" : "disabled";
    // The gate outlasts the operator's own deadlines: the operator's verdict names the pod, the gate's the Ray node.
    const api::Deadlines& limits = job_.spec.deadlines;
    env["VERL_RUN_GATE_SECONDS"] = std::to_string((limits.bind + limits.image_pull + limits.starting).count());
    env["VERL_RUN_TRAINER"] = dumped(json(trainer_argv(job_.spec)));
    env.merge(expected_nodes());
    json container{{"name", "driver"},
                   {"image", job_.spec.image},
                   {"command", json::array({"python3", "-u", "-c", std::string(kDriverGateScript)})},
                   {"env", env_list(env)},
                   {"resources", resources_of({.cores = kDriverCores, .memory = driver_memory(self_.size.memory).count}, nullptr, config_)},
                   {"terminationMessagePath", kTerminationLog},
                   {"volumeMounts", mounts(user, false)},
                   // Ready means that the gate has let the trainer start.
                   {"readinessProbe",
                    {{"exec", {{"command", json::array({"/bin/sh", "-c", std::string("grep -q '\"Passed\"' ") + kTerminationLog})}}},
                     {"periodSeconds", 5},
                     {"timeoutSeconds", 5}}}};
    merge_user(container, user);
    return container;
  }

  // VERL_RUN_EXPECTED_NODES, then …_2, …_3: the kernel takes at most 128 KiB in one variable, and a node's name may be long.
  std::map<std::string, std::string> expected_nodes() const {
    constexpr size_t kNodesInOne = 256;
    std::map<std::string, std::string> env;
    for (size_t first = 0; first < all_.size(); first += kNodesInOne) {
      json some = json::array();
      for (size_t i = first; i < std::min(first + kNodesInOne, all_.size()); ++i) {
        const RankInput& other = all_[i];
        some.push_back({{"rank", other.rank.rank},
                        {"node", other.rank.node},
                        {"address", other.rank.address},
                        {"gpus", other.size.gpus},
                        {"cpus", logical_cpus(other.size, static_cast<std::int32_t>(all_.size()))}});
      }
      env[first == 0 ? "VERL_RUN_EXPECTED_NODES" : fmt::format("VERL_RUN_EXPECTED_NODES_{}", first / kNodesInOne + 1)] = dumped(some);
    }
    return env;
  }

  // What a user gives container `ray` holds for the driver too: both run the same image on the same data.
  static void merge_user(json& container, const json* user) {
    if (user == nullptr) return;
    append(container["env"], json_at(*user, {"env"}));
    for (const char* field : {"envFrom", "imagePullPolicy"}) {
      if (const json* value = json_at(*user, {field})) container[field] = *value;
    }
    const json* security = json_at(*user, {"securityContext"});
    if (security == nullptr || !security->is_object()) return;
    for (const auto& item : security->items()) {
      if (item.key() != "capabilities") {
        container["securityContext"][item.key()] = item.value();
        continue;
      }
      json& capabilities = container["securityContext"]["capabilities"];
      if (const json* drop = json_at(item.value(), {"drop"})) capabilities["drop"] = *drop;
      if (const json* add = json_at(item.value(), {"add"}); add != nullptr && add->is_array()) {
        for (const json& capability : *add) {
          if (!capabilities["add"].is_array()) capabilities["add"] = json::array();
          if (std::find(capabilities["add"].begin(), capabilities["add"].end(), capability) == capabilities["add"].end()) {
            capabilities["add"].push_back(capability);
          }
        }
      }
    }
  }

  bool token() const { return job_.spec.ray_authentication == api::RayAuthentication::Token; }
  std::int64_t shm() const { return self_.size.memory.count / 2; }

  const Config& config_;
  const api::VerlJob& job_;
  const api::Placement& placement_;
  const std::vector<RankInput>& all_;
  const RankInput& self_;
  bool head_{false};
  json template_{};
};

std::int64_t product(std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? std::numeric_limits<std::int64_t>::max() : result;
}

}  // namespace

Bytes driver_memory(Bytes pod) { return {std::clamp(pod.count / 8 / kMiB.count * kMiB.count, kGiB.count, 4 * kGiB.count)}; }

PodSize nominal_size(const api::Pool& pool, Bytes memory_per_gpu) {
  const TemplateResources asked = template_resources(pool.template_json);
  PodSize size{.cores = std::int64_t{pool.gpus_per_node} + kDriverCores, .gpus = pool.gpus_per_node};
  if (asked.cpu) size.cores = std::max(*asked.cpu / 1000, kDriverCores + 1);
  size.memory.count = asked.memory ? *asked.memory / 1000 : product(memory_per_gpu.count, pool.gpus_per_node);
  size.memory = std::max(size.memory, kLeastMemory);
  return size;
}

std::string pod_name(std::string_view job, std::int32_t attempt, std::int32_t rank) { return fmt::format("{}-{}-{}", job, attempt, rank); }

std::string token_secret_name(std::string_view job_uid) { return fmt::format("verl-ray-{}", job_uid); }

std::int32_t logical_cpus(const PodSize& size, std::int32_t nodes) {
  constexpr std::int32_t kCpusPerGpu = 3;       // verl's max_colocate_count
  constexpr std::int32_t kSharedActors = 9;     // TransferQueue's controller and eight storage units
  constexpr std::int32_t kSpare = 2;            // one free CPU where an actor is placed, one for Ray itself
  const std::int64_t gang = std::max(nodes, 1);
  const std::int64_t wanted = kCpusPerGpu * std::int64_t{size.gpus} + (kSharedActors + gang - 1) / gang + kSpare;
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(std::max(wanted, size.cores), 0, 1'000'000));
}

std::string render_pod(const Config& config, const api::VerlJob& job, const api::Placement& placement,
                       const std::vector<RankInput>& all, size_t index) {
  return dumped(Renderer(config, job, placement, all, index).pod());
}

std::string render_token_secret(const api::VerlJob& job) {
  return dumped({{"apiVersion", "v1"},
                 {"kind", "Secret"},
                 {"type", "Opaque"},
                 {"immutable", true},
                 {"metadata",
                  {{"name", token_secret_name(job.meta.uid)},
                   {"namespace", job.meta.name_space},
                   {"labels", labels_of(job, "ray-token")},
                   {"ownerReferences", owner_reference(job)}}}});
}

}  // namespace verl::core
