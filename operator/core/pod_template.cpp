#include "operator/core/pod_template.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "api/node.h"
#include "base/quantity.h"
#include "base/text.h"
#include "operator/core/json_at.h"

namespace verl::core {
namespace {

using nlohmann::json;
using Names = std::set<std::string, std::less<>>;

// Container `ray` takes its command, ports and probes from the operator; sidecars bring their own.
const Names kMetadataFields{"labels", "annotations"};
const Names kSpecFields{"containers",         "initContainers", "volumes",
                        "tolerations",        "nodeSelector",   "imagePullSecrets",
                        "serviceAccountName", "automountServiceAccountToken",
                        "securityContext",    "terminationGracePeriodSeconds", "runtimeClassName"};
const Names kRayFields{"name", "env", "envFrom", "resources", "volumeMounts", "securityContext", "imagePullPolicy"};
const Names kSidecarFields{"name",      "image",        "command",         "args",          "env",           "envFrom",
                           "resources", "volumeMounts", "securityContext", "imagePullPolicy", "workingDir",  "ports",
                           "livenessProbe", "readinessProbe", "startupProbe", "lifecycle", "restartPolicy",
                           "terminationMessagePath", "terminationMessagePolicy"};
const Names kSecurityFields{"capabilities", "runAsUser", "runAsGroup", "runAsNonRoot", "readOnlyRootFilesystem",
                            "allowPrivilegeEscalation", "privileged", "seccompProfile"};
const Names kPodSecurityFields{"runAsUser", "runAsGroup", "runAsNonRoot", "fsGroup", "fsGroupChangePolicy", "supplementalGroups",
                               "seccompProfile"};
const Names kVolumeSources{"persistentVolumeClaim", "emptyDir", "configMap", "secret", "nfs", "csi", "ephemeral", "projected", "hostPath", "image"};
const Names kOwnVolumes{"ray-tmp", "shm", "ray-token"};  // and all that begin with verl-, as containers do
const Names kCapabilities{"IPC_LOCK", "SYS_NICE"};

// Why a field that people do write is refused; others get the general sentence.
std::string_view reason_of(std::string_view field) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kReasons{{
      {"hostNetwork", "the operator sets it: the pods always run in the host's network"},
      {"hostPID", "it would let Ray's clean-up end the processes of other jobs"},
      {"hostIPC", "it would share shared memory with other jobs"},
      {"nodeName", "it goes round the scheduler's check of resources; the operator pins pods by affinity"},
      {"affinity", "the operator pins every pod to the node it was placed on; use nodeSelector to narrow the choice"},
      {"schedulerName", "pods are bound by the cluster's own scheduler"},
      {"restartPolicy", "it is Never: a Ray node that restarts alone belongs to no cluster"},
      {"priorityClassName", "use spec.priorityClassName of the job: queue order and pod priority are one thing"},
      {"priority", "use spec.priorityClassName of the job"},
      {"dnsPolicy", "it is ClusterFirstWithHostNet"},
      {"command", "container ray runs the operator's Ray start script; the trainer's command is spec.trainer"},
      {"args", "container ray runs the operator's Ray start script; the trainer's command is spec.trainer"},
      {"image", "the image of container ray is spec.image, equal on all pods"},
      {"ports", "the operator declares the job's port block"},
  }};
  for (const auto& [name, why] : kReasons) {
    if (name == field) return why;
  }
  return "it is not among the fields that a pool's template may set";
}

// "1", 1 and "1000m" are one amount.
bool same_amount(const json& a, const json& b) {
  const auto amount = [](const json& value) { return parse_quantity_milli(value.is_string() ? value.get<std::string>() : value.dump()); };
  return a == b || (amount(a) && amount(a) == amount(b));
}

class Checker {
 public:
  explicit Checker(const std::vector<std::string>& host_paths) : host_paths_(host_paths) {}
  std::vector<std::string> problems{};

  void check(const json& root, const std::string& at) {
    if (!object(root, at, {"metadata", "spec"})) return;
    if (root.contains("metadata")) metadata(root["metadata"], at + ".metadata");
    if (root.contains("spec")) spec(root["spec"], at + ".spec");
  }

 private:
  void add(const std::string& at, std::string_view sentence) {
    if (problems.size() < 16) problems.push_back(fmt::format("{}: {}", escape_controls(at), sentence));
  }

  bool object(const json& value, const std::string& at, const Names& allowed) {
    if (!value.is_object()) {
      add(at, "must be an object");
      return false;
    }
    for (const auto& item : value.items()) {
      if (!allowed.contains(item.key())) add(at + "." + item.key(), reason_of(item.key()));
    }
    return true;
  }

  const json* list(const json& parent, const char* name, const std::string& at) {
    const auto found = parent.find(name);
    if (found == parent.end() || found->is_null()) return nullptr;
    if (!found->is_array()) {
      add(at + "." + name, "must be a list");
      return nullptr;
    }
    return &*found;
  }

  void metadata(const json& value, const std::string& at) {
    if (!object(value, at, kMetadataFields)) return;
    for (const char* kind : {"labels", "annotations"}) {
      if (!value.contains(kind)) continue;
      if (!value[kind].is_object()) {
        add(at + "." + kind, "must be a map");
        continue;
      }
      for (const auto& item : value[kind].items()) {
        const std::string path = at + "." + kind + "[" + item.key() + "]";
        if (!item.value().is_string()) add(path, "must be a string");
        const bool owned = item.key() == "karpenter.sh/do-not-disrupt" || item.key() == "cluster-autoscaler.kubernetes.io/safe-to-evict";
        if (owned || item.key().starts_with("verl.run/") || item.key().starts_with("app.kubernetes.io/")) add(path, "is the operator's");
      }
    }
  }

  void spec(const json& value, const std::string& at) {
    if (!object(value, at, kSpecFields)) return;
    if (const json* containers = list(value, "containers", at)) {
      Names seen;
      for (size_t i = 0; i < containers->size(); ++i) {
        const std::string path = fmt::format("{}.containers[{}]", at, i);
        container((*containers)[i], path, false, seen);
      }
    }
    if (const json* containers = list(value, "initContainers", at)) {
      Names seen;
      for (size_t i = 0; i < containers->size(); ++i) container((*containers)[i], fmt::format("{}.initContainers[{}]", at, i), true, seen);
    }
    if (const json* volumes = list(value, "volumes", at)) {
      for (size_t i = 0; i < volumes->size(); ++i) volume((*volumes)[i], fmt::format("{}.volumes[{}]", at, i));
    }
    if (const json* tolerations = list(value, "tolerations", at)) {
      for (size_t i = 0; i < tolerations->size(); ++i) {
        const json& t = (*tolerations)[i];
        const std::string path = fmt::format("{}.tolerations[{}]", at, i);
        if (!object(t, path, {"key", "operator", "value", "effect", "tolerationSeconds"})) continue;
        if (!t.contains("key") || !t["key"].is_string() || t["key"].get<std::string>().empty()) {
          add(path, "tolerates every taint, also those of dying nodes; name the key");
        } else if (t["key"].get<std::string>().starts_with("node.kubernetes.io/")) {
          add(path + ".key", fmt::format("{} marks nodes that are sick, cordoned or going away; the operator decides about those", t["key"].get<std::string>()));
        }
      }
    }
    if (value.contains("securityContext")) object(value["securityContext"], at + ".securityContext", kPodSecurityFields);
  }

  void container(const json& value, const std::string& at, bool init, Names& seen) {
    if (!value.is_object() || !value.contains("name") || !value["name"].is_string()) {
      add(at, "must be an object with a name");
      return;
    }
    const std::string name = value["name"];
    if (!seen.insert(name).second) add(at + ".name", "appears twice");
    if (name == "driver" || name.starts_with("verl-") || (init && name == "ray")) {
      add(at + ".name", fmt::format("{} is a name of the operator's own", name));
      return;
    }
    object(value, at, name == "ray" ? kRayFields : kSidecarFields);
    if (init && value.value("restartPolicy", json("Always")) != "Always") add(at + ".restartPolicy", "must be Always or absent");
    if (!init && value.contains("restartPolicy")) add(at + ".restartPolicy", reason_of("restartPolicy"));
    if (value.contains("securityContext")) security(value["securityContext"], at + ".securityContext");
    if (const json* env = list(value, "env", at)) environment(*env, at, name == "ray");
    if (const json* ports = list(value, "ports", at)) {
      for (size_t i = 0; i < ports->size(); ++i) {
        if ((*ports)[i].is_object() && (*ports)[i].contains("hostPort")) {
          add(fmt::format("{}.ports[{}].hostPort", at, i), "leave it out: in the host's network every containerPort is a host port already");
        }
      }
    }
    if (value.contains("resources")) resources(value["resources"], at + ".resources");
  }

  void security(const json& value, const std::string& at) {
    if (!object(value, at, kSecurityFields)) return;
    if (value.contains("privileged") && value["privileged"] != false) {
      add(at + ".privileged", "a privileged container can change the node under other jobs; RDMA needs only IPC_LOCK, which is set");
    }
    if (!value.contains("capabilities")) return;
    const std::string path = at + ".capabilities";
    if (!object(value["capabilities"], path, {"add", "drop"})) return;
    if (const json* added = list(value["capabilities"], "add", path)) {
      for (const json& capability : *added) {
        if (!capability.is_string() || !kCapabilities.contains(capability.get<std::string>())) {
          add(path + ".add", fmt::format("{} is not allowed; IPC_LOCK and SYS_NICE are", capability.dump()));
        }
      }
    }
  }

  void environment(const json& env, const std::string& at, bool ray) {
    for (size_t i = 0; i < env.size(); ++i) {
      const std::string path = fmt::format("{}.env[{}]", at, i);
      if (!env[i].is_object() || !env[i].contains("name") || !env[i]["name"].is_string()) {
        add(path, "must be an object with a name");
        continue;
      }
      const std::string name = env[i]["name"];
      if (name.starts_with("VERL_RUN_") || name == "RAY_ADDRESS" || name.starts_with("RAY_AUTH_")) {
        add(path + ".name", fmt::format("{} is set by the operator", name));
      } else if (ray && (name.starts_with("NCCL_") || name.starts_with("GLOO_"))) {
        add(path + ".name", fmt::format("{} belongs in spec.nccl.env, where it is the same for all pods", name));
      } else if (ray && (name == "CUDA_VISIBLE_DEVICES" || name == "NVIDIA_VISIBLE_DEVICES")) {
        add(path + ".name", fmt::format("{} is set by Ray and the device plugin", name));
      }
    }
  }

  void resources(const json& value, const std::string& at) {
    if (!object(value, at, {"requests", "limits"})) return;
    for (const char* kind : {"requests", "limits"}) {
      if (!value.contains(kind)) continue;
      if (!value[kind].is_object()) {
        add(at + "." + kind, "must be a map");
        continue;
      }
      for (const auto& item : value[kind].items()) {
        const std::string text = item.value().is_string() ? item.value().get<std::string>() : item.value().dump();
        if (item.key() == api::kGpuResource) add(at + "." + kind + "[" + item.key() + "]", "GPUs are asked for with gpusPerNode of the pool");
        if (!parse_quantity_milli(text)) add(at + "." + kind + "[" + item.key() + "]", fmt::format("{} is no quantity", item.value().dump()));
      }
    }
    if (value.contains("requests") && value.contains("limits") && value["requests"].is_object() && value["limits"].is_object()) {
      for (const auto& item : value["requests"].items()) {
        if (value["limits"].contains(item.key()) && !same_amount(value["limits"][item.key()], item.value())) {
          add(at, fmt::format("requests and limits of {} differ; they must be equal, so that the pod is pinned to whole cores", item.key()));
        }
      }
    }
  }

  void volume(const json& value, const std::string& at) {
    if (!value.is_object() || !value.contains("name") || !value["name"].is_string()) {
      add(at, "must be an object with a name");
      return;
    }
    const std::string name = value["name"];
    if (kOwnVolumes.contains(name) || name.starts_with("verl-")) add(at + ".name", fmt::format("{} is a volume of the operator's own", name));
    for (const auto& item : value.items()) {
      if (item.key() != "name" && !kVolumeSources.contains(item.key())) add(at + "." + item.key(), "is not a kind of volume that a template may use");
    }
    if (!value.contains("hostPath")) return;
    const json& host_path = value["hostPath"];
    const std::string path = host_path.is_object() && host_path.contains("path") && host_path["path"].is_string() ? host_path["path"].get<std::string>() : "";
    const bool climbs = path.find("..") != std::string::npos;
    const bool listed = !climbs && std::any_of(host_paths_.begin(), host_paths_.end(), [&](const std::string& prefix) {
      return path == prefix || path.starts_with(prefix.ends_with('/') ? prefix : prefix + "/");
    });
    if (!listed) {
      add(at + ".hostPath", host_paths_.empty() ? "no policy allows host paths; use a PersistentVolumeClaim"
                                                : fmt::format("{} is not below one of the policy's allowed paths: {}", path, join_some(host_paths_, 4)));
    }
  }

  const std::vector<std::string>& host_paths_;
};

}  // namespace

std::vector<std::string> template_problems(std::string_view template_json, std::string_view field,
                                           const std::vector<std::string>& allowed_host_paths) {
  const json root = json::parse(template_json, nullptr, false);
  if (root.is_discarded()) return {fmt::format("{}: is not JSON", field)};
  Checker checker(allowed_host_paths);
  checker.check(root, std::string(field));
  return std::move(checker.problems);
}

TemplateResources template_resources(std::string_view template_json) {
  TemplateResources found{};
  const json root = json::parse(template_json, nullptr, false);
  const json* containers = json_at(root, {"spec", "containers"});
  if (containers == nullptr || !containers->is_array()) return found;
  for (const json& container : *containers) {
    const json* name = json_at(container, {"name"});
    if (name == nullptr || *name != "ray") continue;
    for (const char* kind : {"limits", "requests"}) {
      const auto amount = [&](const char* resource) -> std::optional<std::int64_t> {
        const json* value = json_at(container, {"resources", kind, resource});
        if (value == nullptr) return std::nullopt;
        return parse_quantity_milli(value->is_string() ? value->get<std::string>() : value->dump());
      };
      if (auto cpu = amount("cpu")) found.cpu = cpu;
      if (auto memory = amount("memory")) found.memory = memory;
    }
  }
  return found;
}

}  // namespace verl::core
