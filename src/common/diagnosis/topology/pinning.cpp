#include "diagnosis/topology/pinning.h"

#include <algorithm>

#include "base/text.h"
#include "diagnosis/topology/cpu_set.h"

namespace verl::topology {
namespace {

const NumaNode* node_of(const Facts& facts, std::int32_t id) {
  const auto found = std::find_if(facts.numa_nodes.begin(), facts.numa_nodes.end(), [&](const NumaNode& one) { return one.id == id; });
  return found == facts.numa_nodes.end() ? nullptr : &*found;
}

std::string listed(const std::set<std::int32_t>& nodes) { return to_list(cpu_set_of({nodes.begin(), nodes.end()})); }

PinPlan refused(const Gpu& gpu, std::string why) { return {.gpu = gpu.index, .node = {}, .cpus = {}, .why_not = std::move(why), .fell_back = false}; }

// The only node whose CPUs hold all of the list.
const NumaNode* home_of(const Facts& facts, const CpuSet& cpus) {
  for (const NumaNode& one : facts.numa_nodes) {
    const auto own = parse_cpu_list(one.cpus);
    if (own && contains(*own, cpus)) return &one;
  }
  return nullptr;
}

// The node that the tool gives for the GPU, among those that can have CPUs.
std::set<std::int32_t> candidates(const Facts& facts, const Gpu& gpu) {
  if (facts.numa_nodes.empty()) return gpu.numa;
  std::set<std::int32_t> able;
  for (const std::int32_t one : gpu.numa) {
    const NumaNode* node = node_of(facts, one);
    if (node == nullptr || !node->cpus.empty()) able.insert(one);
  }
  return able;
}

PinPlan plan_on(const Facts& facts, const Gpu& gpu, std::int32_t id, bool fell_back) {
  PinPlan plan{.gpu = gpu.index, .node = id, .cpus = {}, .why_not = {}, .fell_back = fell_back};
  const NumaNode* node = node_of(facts, id);
  const auto of_node = node != nullptr ? parse_cpu_list(node->cpus) : std::nullopt;
  const auto of_gpu = gpu.cpus ? parse_cpu_list(*gpu.cpus) : std::nullopt;
  const bool trusted = of_gpu && !gpu.cpus_truncated && !gpu.cpus_repaired;
  if (trusted && of_node) {
    const CpuSet both = intersection(*of_gpu, *of_node);
    if (both.ranges.empty()) {
      return refused(gpu, "its CPUs " + *gpu.cpus + " are none of NUMA node " + std::to_string(id) + " (" + node->cpus + ")");
    }
    plan.cpus = to_list(both);
  } else if (trusted) {
    plan.cpus = to_list(*of_gpu);
  } else if (of_node) {
    plan.cpus = to_list(*of_node);
  } else {
    plan.why_not = "the CPUs of NUMA node " + std::to_string(id) + " have to be asked from the system (sysfs, lscpu)";
  }
  return plan;
}

}  // namespace

std::vector<std::int32_t> nodes_with_cpus(const Facts& facts) {
  std::vector<std::int32_t> nodes;
  for (const NumaNode& one : facts.numa_nodes) {
    if (!one.cpus.empty()) nodes.push_back(one.id);
  }
  return nodes;
}

bool is_memory_only(const Facts& facts, std::int32_t node) {
  const NumaNode* one = node_of(facts, node);
  return one != nullptr && one->cpus.empty();
}

bool hides_second_socket(const Facts& facts) {
  constexpr std::size_t kTwoSocketClass = 8;
  const std::vector<std::int32_t> nodes = nodes_with_cpus(facts);
  if (facts.sockets) return *facts.sockets >= 2 && nodes.size() == 1;
  return facts.gpus.size() >= kTwoSocketClass && nodes.size() < 2 &&
         std::all_of(facts.gpus.begin(), facts.gpus.end(), [&](const Gpu& one) { return one.numa == std::set<std::int32_t>{0}; });
}

bool is_unusable(const std::string& cpus) {
  if (trim(cpus).empty()) return false;
  const auto set = parse_cpu_list(cpus);
  return !set || count(*set) < 2;
}

PinPlan pin_plan(const Facts& facts, const Gpu& gpu) {
  if (gpu.mig.value_or(false)) return refused(gpu, "MIG is on: it is no whole GPU");
  if (gpu.cpus && trim(*gpu.cpus).empty() && !gpu.numa.empty()) {
    return refused(gpu, "no allowed CPU on NUMA node " + listed(gpu.numa) + ": the cpuset leaves it out");
  }
  if (gpu.cpus && !gpu.cpus_truncated && is_unusable(*gpu.cpus)) return refused(gpu, "\"" + *gpu.cpus + "\" is no usable CPU list");
  const std::set<std::int32_t> nodes = candidates(facts, gpu);
  if (nodes.size() > 1) return refused(gpu, "NUMA nodes " + listed(gpu.numa) + " at once: its locality is unknown");
  if (nodes.size() == 1) {
    if (hides_second_socket(facts)) return refused(gpu, "the machine shows a single NUMA node: pinning cannot be verified");
    return plan_on(facts, gpu, *nodes.begin(), false);
  }
  // No node, or only such without CPUs: the CPUs that the tool gives may lie in one node.
  const auto cpus = gpu.cpus && !gpu.cpus_truncated && !gpu.cpus_repaired ? parse_cpu_list(*gpu.cpus) : std::nullopt;
  const NumaNode* home = cpus ? home_of(facts, *cpus) : nullptr;
  if (home != nullptr) return plan_on(facts, gpu, home->id, !gpu.numa.empty());
  if (!gpu.numa.empty()) return refused(gpu, "NUMA node " + listed(gpu.numa) + " has no CPU, and no other holds the GPU's CPUs");
  return refused(gpu, cpus ? "no NUMA node is known that holds CPUs " + *gpu.cpus : "neither its NUMA node nor its CPUs are known");
}

std::vector<PinPlan> pin_plans(const Facts& facts) {
  std::vector<PinPlan> plans;
  plans.reserve(facts.gpus.size());
  for (const Gpu& one : facts.gpus) plans.push_back(pin_plan(facts, one));
  return plans;
}

}  // namespace verl::topology
