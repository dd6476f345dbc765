// Pods and pod templates: what a container must have to train over RDMA, and the NCCL settings it is given. And pods that ended.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "diagnosis/nccl/settings.h"
#include "diagnosis/kubernetes/manifest.h"
#include "diagnosis/rule.h"

namespace verl::diagnosis::manifest {
namespace {

bool has_memory_shm(const Json& spec, const Json& container) {
  for (const Json& mount : at(container, "volumeMounts")) {
    if (text_at(mount, "mountPath") != "/dev/shm") continue;
    for (const Json& volume : at(spec, "volumes")) {
      if (text_at(volume, "name") != text_at(mount, "name")) continue;
      // A host path is the node's own /dev/shm.
      if (text_at(at(volume, "emptyDir"), "medium") == "Memory" || text_at(at(volume, "hostPath"), "path") == "/dev/shm") return true;
    }
  }
  return false;
}

bool may_lock(const Json& container) {
  const Json& security = at(container, "securityContext");
  if (at(security, "privileged") == Json(true)) return true;
  const Json& added = path(security, {"capabilities", "add"});
  return std::any_of(added.begin(), added.end(), [](const Json& one) { return one == Json("IPC_LOCK") || one == Json("CAP_IPC_LOCK") || one == Json("ALL"); });
}

void read_environment(Context& context, const Object& object, const Json& container, const std::string& origin, PodShape& shape) {
  nccl::Environment environment;
  environment.kind = object.kind == "VerlJob" ? nccl::EnvironmentKind::VerlJob : nccl::EnvironmentKind::PodSpec;
  environment.origin = origin + "container " + text_at(container, "name");
  for (const Json& variable : at(container, "env")) {
    const std::string name = text_at(variable, "name");
    const Json& value = at(variable, "value");
    if (name == "RAY_USE_TLS" && (value == Json("1") || value == Json("true"))) shape.tls = true;
    // The value of any other variable may be a secret. valueFrom is not known here.
    if (!nccl::concerns_communication(name) || !value.is_string()) continue;
    nccl::SettingAt one;
    one.setting.name = name;
    one.setting.value = value.get<std::string>();
    one.source = context.options.name;
    one.line = context.lines.of(name).line;
    environment.settings.push_back(std::move(one));
  }
  if (!environment.settings.empty()) own_node(context.reading).nccl.environments.push_back(std::move(environment));
}

std::int64_t amount(const Json& container, std::string_view resource) {
  const std::int64_t limit = quantity(at(path(container, {"resources", "limits"}), resource));
  return limit > 0 ? limit : quantity(at(path(container, {"resources", "requests"}), resource));
}

void judge_container(Context& context, const Object& object, const Json& container, const std::string& where) {
  const std::int64_t limit = quantity(at(path(container, {"resources", "limits"}), "memory"));
  const std::int64_t request = quantity(at(path(container, {"resources", "requests"}), "memory"));
  if (request <= 0 || limit <= request) return;
  Finding finding = finding_of("pod-memory-request-below-limit", where);
  const std::string wanted = at(path(container, {"resources", "limits"}), "memory").dump();
  finding.seen = at(path(container, {"resources", "requests"}), "memory").dump();
  finding.wanted = wanted;
  finding.message = fmt::format("{}: {} requests {} of memory and may use {}: not of the guaranteed class, it is evicted first", object.title, where, finding.seen, wanted);
  add(context, std::move(finding), text_at(container, "name"));
}

void judge_gpu_pod(Context& context, const Object& object, const Json& spec, const Json& container, const PodShape& shape, const std::string& where, bool several) {
  const std::string name = text_at(container, "name");
  if (!has_memory_shm(spec, container)) {
    Finding finding = finding_of("pod-shm-missing", where);
    finding.seen = "64 MiB, the container's default";
    finding.wanted = "an emptyDir of medium Memory at /dev/shm";
    finding.message = fmt::format("{}: {} asks for GPUs and has no memory-backed volume at /dev/shm: it gets 64 MiB", object.title, where);
    add(context, std::move(finding), name);
  }
  const bool host = at(spec, "hostNetwork") == Json(true);
  if (shape.rdma == 0) {
    Finding finding = finding_of("pod-no-rdma-resource", where);
    if (!several) finding.severity = Severity::Info;
    finding.message = fmt::format("{}: {} asks for GPUs and for no RDMA device{}", object.title, where, several ? ": NCCL will use sockets between nodes" : "; one node needs none");
    add(context, std::move(finding), name);
  }
  if (several && !host) {
    Finding finding = finding_of("pod-host-network", where);
    finding.message = fmt::format("{}: {} does not use hostNetwork: NCCL sees the pod's interface alone", object.title, where);
    add(context, std::move(finding), name);
  }
  if ((shape.rdma > 0 || (several && host)) && !may_lock(container)) {
    Finding finding = finding_of("pod-memlock", where);
    finding.wanted = "capability IPC_LOCK";
    finding.message = fmt::format("{}: {} uses RDMA without the capability IPC_LOCK: its limit of locked memory decides whether registration works", object.title, where);
    add(context, std::move(finding), name);
  }
}

}  // namespace

bool is_gpu(std::string_view resource) { return resource == "nvidia.com/gpu" || resource == "amd.com/gpu" || resource == "gpu.intel.com/i915" || resource == "nvidia.com/gpu.shared"; }

bool is_rdma(std::string_view resource, const Policy& policy) {
  if (!policy.rdma_resource.empty()) {
    std::string_view wanted = policy.rdma_resource;
    if (wanted.ends_with('*')) return resource.starts_with(wanted.substr(0, wanted.size() - 1));
    return resource == wanted;
  }
  if (resource.find('/') == std::string_view::npos) return false;
  for (const std::string_view part : {"rdma", "hca", "roce", "infiniband", "/efa", "/ib"}) {
    if (resource.find(part) != std::string_view::npos) return true;
  }
  return false;
}

PodShape read_pod_spec(Context& context, const Object& object, const Json& spec, const std::string& origin, bool several_nodes) {
  PodShape shape;
  const Json& containers = at(spec, "containers");
  size_t index = 0;
  for (const Json& container : containers) {
    const std::string where = origin + "container " + text_at(container, "name");
    PodShape own;
    for (const std::string_view side : {"limits", "requests"}) {
      for (const auto& item : at(at(container, "resources"), side).items()) {
        if (is_gpu(item.key())) own.gpus = std::max(own.gpus, amount(container, item.key()));
        if (side == "limits" && is_rdma(item.key(), context.options.policy)) own.rdma = std::min<std::int64_t>(own.rdma + amount(container, item.key()), 1 << 20);
      }
    }
    if (index++ == 0) shape.image = text_at(container, "image");
    read_environment(context, object, container, origin, shape);
    judge_container(context, object, container, where);
    if (own.gpus > 0) judge_gpu_pod(context, object, spec, container, own, where, several_nodes);
    shape.gpus = std::min<std::int64_t>(shape.gpus + own.gpus, 1 << 20);
    shape.rdma = std::min<std::int64_t>(shape.rdma + own.rdma, 1 << 20);
  }
  index = 0;
  for (const Json& container : at(spec, "initContainers")) put(context, object, fmt::format("{}init_containers[{}]", origin, index++), text_at(container, "name"));
  return shape;
}

void read_pod(Context& context, const Object& object) {
  const PodShape shape = read_pod_spec(context, object, at(object.json, "spec"), "", false);
  put(context, object, "gpus", shape.gpus);
  const Json& status = at(object.json, "status");
  const std::string phase = text_at(status, "phase");
  const std::string reason = text_at(status, "reason");
  const bool deleted = at(at(object.json, "metadata"), "deletionTimestamp").is_string();
  if (!phase.empty()) put(context, object, "phase", phase);
  if (!reason.empty()) put(context, object, "reason", reason);
  const bool gone = phase == "Failed" || reason == "Evicted" || reason == "NodeLost" || reason == "Preempting";
  put(context, object, "alive", !gone && !deleted && phase != "Succeeded");
  if (!gone) return;
  Finding finding = finding_of("pod-not-alive", object.name);
  finding.seen = phase + (reason.empty() ? "" : ", " + reason);
  finding.message = fmt::format("{} is not alive ({}), whatever its restartPolicy says: {}", object.title, finding.seen, shorten(trim(text_at(status, "message")), 300));
  add(context, std::move(finding), "phase:");
}

}  // namespace verl::diagnosis::manifest
