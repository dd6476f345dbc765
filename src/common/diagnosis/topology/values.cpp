#include "diagnosis/topology/values.h"

#include "base/text.h"
#include "diagnosis/topology/cpu_set.h"
#include "diagnosis/topology/model.h"
#include "diagnosis/topology/pinning.h"

namespace verl::topology {
namespace {

using diagnosis::Reading;

std::int64_t wide(std::size_t number) { return static_cast<std::int64_t>(number); }

// One node as a number, several as a list.
diagnosis::Scalar nodes(const std::set<std::int32_t>& numa) {
  if (numa.size() == 1) return static_cast<std::int64_t>(*numa.begin());
  return to_list(cpu_set_of({numa.begin(), numa.end()}));
}

void add_text(Reading& reading, const std::string& name, const std::string& text) {
  if (!text.empty()) add_value(reading, name, text);
}

void add_gpu(const Facts& facts, const Relations& relations, const Gpu& gpu, Reading& reading) {
  const std::string label = label_of(gpu);
  add_text(reading, label + ".name", gpu.name);
  add_text(reading, label + ".bus_id", gpu.bus_id);
  add_text(reading, label + ".uuid", gpu.uuid);
  if (!gpu.numa.empty()) add_value(reading, label + ".numa", nodes(gpu.numa));
  if (gpu.cpus) add_value(reading, label + ".cpus", *gpu.cpus);
  if (gpu.cpus_truncated) add_value(reading, label + ".cpus_truncated", true);
  if (gpu.memory_node) add_value(reading, label + ".memory_node", static_cast<std::int64_t>(*gpu.memory_node));
  if (gpu.mig) add_value(reading, label + ".mig", *gpu.mig);
  if (gpu.mig_slices) add_value(reading, label + ".mig_slices", static_cast<std::int64_t>(*gpu.mig_slices));
  if (!facts.nics.empty()) {
    const Nearest nearest = nearest_nics(facts, relations, label);
    if (nearest.link != Link::Unknown) {
      add_value(reading, label + ".nearest", join(nearest.nics, ","));
      add_value(reading, label + ".nearest.link", std::string(to_string(nearest.link)));
    }
  }
  if (gpu.numa.empty() && !gpu.cpus) return;
  const PinPlan plan = pin_plan(facts, gpu);
  if (plan.node) add_value(reading, label + ".pin.node", static_cast<std::int64_t>(*plan.node));
  add_text(reading, label + ".pin.cpus", plan.cpus);
  add_text(reading, label + ".pin.why_not", plan.why_not);
}

std::string kind_of(const std::string& label) { return label.starts_with("GPU") ? "gpu" : "nic"; }

void add_nvlink(const Facts& facts, Reading& reading) {
  if (facts.nvlink_shown) add_value(reading, "nvlink.shown", *facts.nvlink_shown);
  const std::vector<Relation> pairs = direct_pairs(facts);
  if (pairs.empty() && !facts.nvlink_shown.value_or(false)) return;  // nothing seen proves nothing
  add_value(reading, "nvlink.pairs", wide(pairs.size()));
  std::vector<std::string> groups;
  for (const auto& group : joined_gpus(facts)) groups.push_back(labels_of(group));
  add_text(reading, "nvlink.groups", join(groups, ";"));
}

}  // namespace

void add_value(Reading& reading, std::string name, diagnosis::Scalar value, std::string unit) {
  constexpr std::size_t kMostValues = 200'000;  // more than any machine has
  if (reading.values.size() >= kMostValues) return;
  reading.values.push_back({.name = std::move(name), .value = std::move(value), .unit = std::move(unit)});
}

void add_values(const Facts& facts, Reading& reading) {
  const Relations relations(facts);
  add_value(reading, "gpus", wide(facts.gpus.size()));
  if (!facts.nics.empty() || (!facts.relations.empty() && !facts.incomplete)) add_value(reading, "nics", wide(facts.nics.size()));
  for (const Gpu& gpu : facts.gpus) add_gpu(facts, relations, gpu, reading);
  for (const Nic& nic : facts.nics) {
    add_text(reading, nic.label + ".device", nic.device);
    add_text(reading, nic.label + ".bus_id", nic.bus_id);
    if (!nic.numa.empty()) add_value(reading, nic.label + ".numa", nodes(nic.numa));
  }
  for (const Relation& one : facts.relations) {
    const std::string name = one.a + "." + kind_of(one.b) + "[" + one.b + "]";
    add_value(reading, name, to_text(one));
    if (one.weight) add_value(reading, name + ".weight", static_cast<std::int64_t>(*one.weight));
    if (one.hops) add_value(reading, name + ".hops", static_cast<std::int64_t>(*one.hops));
  }
  add_nvlink(facts, reading);
  if (!facts.numa_nodes.empty()) {
    add_value(reading, "numa_nodes", wide(facts.numa_nodes.size()));
    add_value(reading, "numa_nodes.with_cpus", wide(nodes_with_cpus(facts).size()));
    for (const NumaNode& one : facts.numa_nodes) {
      const std::string name = "numa[" + std::to_string(one.id) + "]";
      add_value(reading, name + ".cpus", one.cpus);
      if (one.memory_bytes) add_value(reading, name + ".memory", *one.memory_bytes, "B");
    }
  }
  if (facts.virtual_machine) add_value(reading, "virtual_machine", *facts.virtual_machine);
  if (facts.sockets) add_value(reading, "sockets", static_cast<std::int64_t>(*facts.sockets));
  add_text(reading, "driver_version", facts.driver_version);
  if (facts.incomplete) add_value(reading, "incomplete", true);
}

}  // namespace verl::topology
