#include "operator/controller/dry_run.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/quantity.h"
#include "base/text.h"
#include "codec/decode.h"
#include "kube/protocol/api_status.h"
#include "operator/controller/name_holder.h"
#include "operator/core/json_at.h"

namespace verl::controller {
namespace {

using core::json_at;
using nlohmann::json;

bool same_amount(const json& before, const json& after) {
  const auto amount = [](const json& value) { return parse_quantity_milli(value.is_string() ? value.get<std::string>() : value.dump()); };
  const auto wanted = amount(before);
  return wanted && wanted == amount(after);
}

// Whether both name the same resources in the same amounts; the apiserver writes quantities its own way ("0.5" as "500m").
bool same_amounts(const json& before, const json* after) {
  if (after == nullptr || !before.is_object() || !after->is_object() || before.size() != after->size()) return false;
  for (const auto& item : before.items()) {
    const auto found = after->find(item.key());
    if (found == after->end() || !same_amount(item.value(), *found)) return false;
  }
  return true;
}

// Whether every container asks for as much cpu and memory as it is limited to: then the pod's class is Guaranteed, and the
// kubelet gives it whole cores of its own. Of pods that say more than that nothing is claimed.
bool is_guaranteed(const json& pod) {
  if (json_at(pod, {"spec", "resources"}) != nullptr) return false;
  bool any = false;
  for (const char* list : {"containers", "initContainers"}) {
    const json* containers = json_at(pod, {"spec", list});
    if (containers == nullptr) continue;
    for (const json& container : *containers) {
      any = true;
      for (const char* resource : {"cpu", "memory"}) {
        const json* limit = json_at(container, {"resources", "limits", resource});
        const json* request = json_at(container, {"resources", "requests", resource});
        if (limit == nullptr) return false;
        if (request != nullptr && !same_amount(*request, *limit)) return false;
      }
    }
  }
  return any;
}

// Fields whose change by a webhook or LimitRange would break the gang: its requests, its pinning, its network.
std::string mutation(const json& sent, const json& returned) {
  for (const char* field : {"hostNetwork", "dnsPolicy", "restartPolicy", "affinity", "priorityClassName", "schedulerName"}) {
    const json* before = json_at(sent, {"spec", field});
    const json* after = json_at(returned, {"spec", field});
    if (before == nullptr) continue;
    if (after == nullptr || *before != *after) return fmt::format("spec.{}", field);
  }
  const json* wanted = json_at(sent, {"spec", "containers"});
  const json* got = json_at(returned, {"spec", "containers"});
  if (wanted == nullptr || got == nullptr || !wanted->is_array() || !got->is_array()) return "spec.containers";
  if (got->size() != wanted->size()) return fmt::format("spec.containers ({} instead of {})", got->size(), wanted->size());
  for (size_t i = 0; i < wanted->size(); ++i) {
    for (const char* kind : {"requests", "limits"}) {
      const json* before = json_at((*wanted)[i], {"resources", kind});
      const json* after = json_at((*got)[i], {"resources", kind});
      if (before != nullptr && !same_amounts(*before, after)) return fmt::format("spec.containers[{}].resources.{}", i, kind);
    }
    for (const char* field : {"command", "image"}) {
      const json* before = json_at((*wanted)[i], {field});
      const json* after = json_at((*got)[i], {field});
      if (before != nullptr && (after == nullptr || *before != *after)) return fmt::format("spec.containers[{}].{}", i, field);
    }
  }
  // A container that was added to start first, without limits, takes the cores of their own from all others.
  const json* qos = json_at(returned, {"status", "qosClass"});
  if (qos != nullptr && *qos != "Guaranteed" && is_guaranteed(sent)) return fmt::format("status.qosClass ({} instead of \"Guaranteed\")", qos->dump());
  return "";
}

}  // namespace

core::DryRun judge_dry_run(const std::string& pool, std::int64_t job_generation, std::string_view name_space, std::string_view sent,
                           const kube::Reply& reply, Timestamp asked) {
  core::DryRun run{.job_generation = job_generation, .asked = asked, .pool = pool};
  const auto refuse = [&](std::string reason, std::string message) {
    run.refusal_reason = std::move(reason);
    run.refusal_message = shorten(escape_controls(message), 1500);
    return run;
  };
  if (!kube::is_success(reply)) {
    const kube::ApiStatus status = kube::decode_status(reply);
    if (kube::is_already_exists(status)) return name_taken(job_generation, name_space, pool, status.object_name, asked);
    if (status.message.find("violates PodSecurity") != std::string::npos) {
      return refuse("PodSecurityForbids", fmt::format("pool {}: {}. Job pods use the host's network, so the namespace needs: kubectl label namespace {} "
                                                      "pod-security.kubernetes.io/enforce=privileged",
                                                      pool, status.message, name_space));
    }
    if (status.message.find("exceeded quota") != std::string::npos) {
      return refuse("QuotaExceeded", fmt::format("pool {}: {}", pool, status.message));
    }
    return refuse("PodRefused", fmt::format("pool {}: the apiserver would not take its pod: {}", pool, kube::summary(status)));
  }
  const json before = json::parse(sent, nullptr, false);
  const json after = json::parse(reply.body, nullptr, false);
  const std::string changed = mutation(before, after);
  if (!changed.empty()) {
    return refuse("PodMutated", fmt::format("pool {}: an admission webhook or LimitRange changes {} of the job's pods; exempt pods with label {} from it", pool,
                                            changed, api::kJobNameLabel));
  }
  const auto pod = codec::decode_object<api::Pod>(reply.body);
  if (!pod) return refuse("PodRefused", fmt::format("pool {}: the dry run's answer cannot be read: {}", pool, pod.error().message));
  run.allowed = true;
  run.requests = pod->requests;
  run.priority = pod->priority;
  return run;
}

}  // namespace verl::controller
