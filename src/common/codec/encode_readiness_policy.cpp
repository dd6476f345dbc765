#include "base/quantity.h"
#include "codec/encode.h"
#include "codec/encode_expectations.h"
#include "codec/writer.h"

namespace verl::codec {

Json to_json(const api::Expectations& expectations) {
  Json inventory = Json::object();
  put_number(inventory, "gpus", expectations.inventory.gpus);
  put_number(inventory, "rdmaDevices", expectations.inventory.rdma_devices);
  put_number(inventory, "numaNodes", expectations.inventory.numa_nodes);
  Json thresholds = Json::object();
  put_number(thresholds, "mtuMin", expectations.thresholds.mtu_min);
  put_number(thresholds, "rdmaMTUMin", expectations.thresholds.rdma_mtu_min);
  put_number(thresholds, "linkGbpsMin", expectations.thresholds.link_gbps_min);
  put_number(thresholds, "clockOffsetMaxMicroseconds", expectations.thresholds.clock_offset_max);
  Json out = Json::object();
  put_json(out, "inventory", std::move(inventory));
  put_json(out, "thresholds", std::move(thresholds));
  put(out, "fabricInterfaces", expectations.fabric_interfaces);
  put(out, "controlInterface", expectations.control_interface);
  put_json(out, "checks", list_of(expectations.checks, [](const api::CheckRule& rule) {
        return Json{{"id", rule.id}, {"action", to_string(rule.action)}};
      }));
  return out;
}

std::string encode(const api::ReadinessPolicy& policy) {
  const api::ReadinessPolicySpec& from = policy.spec;
  Json selector = Json::object();
  put(selector, "matchLabels", from.node_selector.match_labels);
  put_json(selector, "matchExpressions", list_of(from.node_selector.match_expressions, [](const api::SelectorTerm& term) {
        Json one{{"key", term.key}, {"operator", term.op}};
        put(one, "values", term.values);
        return one;
      }));
  Json spec{{"nodeSelector", std::move(selector)}, {"priority", from.priority}, {"expectations", to_json(from.expectations)}};
  if (from.memory_per_gpu) spec["memoryPerGPU"] = format_bytes_quantity(from.memory_per_gpu->count);
  put(spec, "rdmaResource", from.rdma_resource);
  put_json(spec, "reservedPorts", Json(from.reserved_ports));
  put(spec, "allowedHostPaths", from.allowed_host_paths);
  Json out = object_of("ReadinessPolicy", policy.meta);
  out["spec"] = std::move(spec);
  return text_of(out);
}

}  // namespace verl::codec
