#include "operator/core/pool_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "operator/core/fit/host_ports.h"
#include "operator/core/json_at.h"
#include "operator/core/pod_template.h"
#include "operator/core/readiness.h"

namespace verl::core {
namespace {

// At most what a quantity may be in thousandths; numbers from objects are never multiplied beyond the range.
std::int64_t times(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN : product;
}

std::int64_t plus(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? a < 0 ? INT64_MIN : INT64_MAX : sum;
}

// What the dry run of a pool's pod asked for beyond the container `ray` and the driver: sidecars, hugepages, overhead.
api::Resources extras(const ClusterSnapshot& snapshot, const api::VerlJob& job, const api::Pool& pool, const PodSize& nominal) {
  const auto runs = snapshot.dry_runs.find(job.meta.uid);
  if (runs == snapshot.dry_runs.end()) return {};
  const auto run = std::find_if(runs->second.begin(), runs->second.end(), [&](const DryRun& r) { return r.pool == pool.name && r.allowed; });
  if (run == runs->second.end()) return {};
  api::Resources more = run->requests;
  more["cpu"] = plus(more["cpu"], -times(nominal.cores, 1000));
  more["memory"] = plus(more["memory"], -times(nominal.memory.count, 1000));
  more.erase(snapshot.config.gpu_resource);
  // Less than nothing means that the policy's memory has changed since the dry run: the pod itself then asks for the rest.
  std::erase_if(more, [](const auto& one) { return one.second <= 0; });
  return more;
}

std::vector<api::Toleration> tolerations_of(const Config& config, const nlohmann::json& pod_template) {
  std::vector<api::Toleration> all{{.key = config.gpu_resource, .op = "Exists", .effect = "NoSchedule"}};
  const auto* listed = json_at(pod_template, {"spec", "tolerations"});
  if (listed == nullptr || !listed->is_array()) return all;
  for (const auto& item : *listed) {
    const auto text = [&](const char* field) {
      const auto* value = json_at(item, {field});
      return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
    };
    all.push_back({.key = text("key"), .op = text("operator"), .value = text("value"), .effect = text("effect")});
  }
  return all;
}

api::Labels selector_of(const nlohmann::json& pod_template) {
  api::Labels labels;
  const auto* listed = json_at(pod_template, {"spec", "nodeSelector"});
  if (listed == nullptr || !listed->is_object()) return labels;
  for (const auto& item : listed->items()) {
    if (item.value().is_string()) labels[item.key()] = item.value().get<std::string>();
  }
  return labels;
}

// Ports of the user's containers: in the host's network each of them is a host port, whatever it is called.
std::vector<api::HostPort> ports_of(const nlohmann::json& pod_template) {
  std::vector<api::HostPort> ports;
  for (const char* list : {"containers", "initContainers"}) {
    const auto* containers = json_at(pod_template, {"spec", list});
    if (containers == nullptr || !containers->is_array()) continue;
    for (const auto& container : *containers) {
      const auto* declared = json_at(container, {"ports"});
      if (declared == nullptr || !declared->is_array()) continue;
      for (const auto& port : *declared) {
        const auto* number = json_at(port, {"containerPort"});
        const auto* protocol = json_at(port, {"protocol"});
        if (number == nullptr || !number->is_number_integer()) continue;
        const auto value = number->get<std::int64_t>();
        if (value < 1 || value > 65535) continue;  // the dry run refuses it
        ports.push_back({.ip = "", .protocol = protocol != nullptr && protocol->is_string() ? protocol->get<std::string>() : "TCP",
                         .port = static_cast<std::int32_t>(value)});
      }
    }
  }
  return ports;
}

bool mounts_host_paths(const nlohmann::json& pod_template) {
  const auto* volumes = json_at(pod_template, {"spec", "volumes"});
  return volumes != nullptr && volumes->is_array() &&
         std::any_of(volumes->begin(), volumes->end(), [](const auto& v) { return json_at(v, {"hostPath"}) != nullptr; });
}

}  // namespace

PoolFacts facts_of(const ClusterSnapshot& snapshot, const api::VerlJob& job, const api::Pool& pool) {
  const Bytes memory = largest_memory_per_gpu(snapshot);
  nlohmann::json pod_template = nlohmann::json::parse(pool.template_json, nullptr, false);
  PoolFacts facts{.pool = &pool, .nominal = nominal_size(pool, memory)};
  facts.extra = extras(snapshot, job, pool, facts.nominal);
  facts.tolerations = tolerations_of(snapshot.config, pod_template);
  facts.selector = selector_of(pod_template);
  facts.ports = ports_of(pod_template);
  facts.host_paths = mounts_host_paths(pod_template);
  return facts;
}

SizeOrProblem pod_size(const Config& config, const PoolFacts& facts, const api::ReadinessPolicy& policy, const api::Node& node, const fit::NodeUse& use) {
  const api::Pool& pool = *facts.pool;
  const std::int64_t extra_cpu = fit::amount(facts.extra, "cpu");
  const TemplateResources asked = template_resources(pool.template_json);
  SizeOrProblem out{};
  out.size.gpus = pool.gpus_per_node;
  out.size.rdma_resource = policy.spec.rdma_resource;
  const std::int64_t gpus = fit::amount(node.allocatable, config.gpu_resource) / 1000;
  const bool part_of_node = gpus > 0 && pool.gpus_per_node < gpus;
  if (!policy.spec.rdma_resource.empty()) {
    const std::int32_t devices = policy.spec.expectations.inventory.rdma_devices.value_or(0);
    out.size.rdma_devices = part_of_node ? static_cast<std::int32_t>((std::int64_t{devices} * pool.gpus_per_node + gpus - 1) / gpus) : devices;
  }
  if (asked.memory) {
    out.size.memory.count = *asked.memory / 1000;
  } else if (policy.spec.memory_per_gpu) {
    out.size.memory.count = times(policy.spec.memory_per_gpu->count, pool.gpus_per_node);
  } else {
    out.problem = "MemoryUnknown";
    out.message = fmt::format("neither the template of pool {} nor policy {} (memoryPerGPU) says how much memory a pod takes", pool.name, policy.meta.name);
    return out;
  }
  if (out.size.memory < kLeastMemory) {
    out.problem = "MemoryTooSmall";
    out.message = fmt::format("pool {} asks for {} bytes of memory, wants at least {}", pool.name, out.size.memory.count, kLeastMemory.count);
    return out;
  }
  const std::int64_t cpu = fit::amount(node.allocatable, "cpu");
  if (asked.cpu) {
    out.size.cores = *asked.cpu / 1000;
  } else {
    const std::int64_t free = plus(plus(cpu, -fit::amount(use.requests, "cpu")), -extra_cpu);
    // Its part of the node, or what others leave of it: the second of two halves makes do with what daemons left.
    const std::int64_t part = part_of_node ? plus(times(cpu, pool.gpus_per_node) / gpus, -extra_cpu) : free;
    out.size.cores = std::min(part, free) / 1000;
  }
  const std::int64_t least = asked.cpu ? kDriverCores + 1 : pool.gpus_per_node + kDriverCores;
  if (out.size.cores < least) {
    out.problem = "TooFewCores";
    out.message = fmt::format("{} whole cores are free, wants at least {}", std::max<std::int64_t>(out.size.cores, 0), least);
  }
  return out;
}

fit::PodNeeds needs_of(const Config& config, const PoolFacts& facts, const PodSize& size, std::int32_t port_base) {
  fit::PodNeeds needs{};
  needs.requests = facts.extra;
  needs.requests["cpu"] = plus(needs.requests["cpu"], times(size.cores, 1000));
  needs.requests["memory"] = plus(needs.requests["memory"], times(size.memory.count, 1000));
  needs.requests[config.gpu_resource] = std::int64_t{size.gpus} * 1000;
  if (!size.rdma_resource.empty() && size.rdma_devices > 0) needs.requests[size.rdma_resource] = std::int64_t{size.rdma_devices} * 1000;
  std::erase_if(needs.requests, [](const auto& request) { return request.second <= 0; });
  const bool block = port_base > 0 && port_base <= 65536 - fit::kBlockSize;
  for (std::int32_t i = 0; block && i < fit::kBlockSize; ++i) needs.host_ports.push_back({.protocol = "TCP", .port = port_base + i});
  needs.host_ports.insert(needs.host_ports.end(), facts.ports.begin(), facts.ports.end());
  needs.tolerations = facts.tolerations;
  needs.node_selector = facts.selector;
  return needs;
}

}  // namespace verl::core
