// What the CPU and NUMA columns allow, and what in them must not be believed.
#include <algorithm>

#include "base/text.h"
#include "diagnosis/rule.h"
#include "diagnosis/topology/cpu_set.h"
#include "diagnosis/topology/judge_parts.h"
#include "diagnosis/topology/model.h"
#include "diagnosis/topology/pinning.h"

namespace verl::topology {
namespace {

using diagnosis::Finding;
using diagnosis::finding_of;

// GPUs for which something holds, with the lines that show it.
struct Group {
  std::vector<std::int32_t> gpus{};
  std::vector<diagnosis::Evidence> shown{};
};

template <class Holds>
Group those(const Facts& facts, const Holds& holds) {
  Group group;
  for (const Gpu& gpu : facts.gpus) {
    if (!holds(gpu)) continue;
    group.gpus.push_back(gpu.index);
    if (!gpu.shown.text.empty() && group.shown.size() < 16) group.shown.push_back(gpu.shown);
  }
  return group;
}

Finding about(std::string_view id, const Group& group) {
  Finding finding = finding_of(id, labels_of(group.gpus));
  finding.evidence = group.shown;
  return finding;
}

std::string listed(const std::set<std::int32_t>& nodes) { return to_list(cpu_set_of({nodes.begin(), nodes.end()})); }

void judge_locality(const Facts& facts, Findings& out) {
  const auto able = [&](const Gpu& gpu) {
    return std::count_if(gpu.numa.begin(), gpu.numa.end(), [&](std::int32_t one) { return !is_memory_only(facts, one); });
  };
  const Group several = those(facts, [&](const Gpu& gpu) { return able(gpu) > 1; });
  if (!several.gpus.empty()) {
    // On Grace each GPU lists its CPU node and its own memory nodes, another set for each socket; that is locality.
    const bool alike = std::all_of(facts.gpus.begin(), facts.gpus.end(), [&](const Gpu& one) { return one.numa == facts.gpus.front().numa; });
    const bool nodes_known = !facts.numa_nodes.empty();
    if (alike || nodes_known) {
      Finding finding = about("numa-no-locality", several);
      finding.seen = "NUMA affinity " + listed(facts.gpus.front().numa);
      finding.message = "the NUMA affinity of " + finding.subject + " is the set {" + join_some(
          [&] {
            std::vector<std::string> names;
            for (const std::int32_t one : facts.gpus.front().numa) names.push_back(std::to_string(one));
            return names;
          }(), 8) + "}: this machine (a VM?) exposes no locality of GPUs and NICs, so nothing is pinned, not even to the first node";
      out.push_back(std::move(finding));
    }
  }
  const Group unsaid = those(facts, [](const Gpu& gpu) { return gpu.numa.empty() && gpu.cpus && trim(*gpu.cpus).empty(); });
  if (!unsaid.gpus.empty()) {
    Finding finding = about("numa-no-locality", unsaid);
    finding.message = "neither CPUs nor a NUMA node are given for " + finding.subject + ": nothing is pinned";
    out.push_back(std::move(finding));
  }
}

void judge_cpu_lists(const Facts& facts, Findings& out) {
  const Group empty = those(facts, [](const Gpu& gpu) { return gpu.cpus && trim(*gpu.cpus).empty() && !gpu.numa.empty(); });
  if (!empty.gpus.empty()) {
    std::set<std::int32_t> nodes;
    for (const Gpu& gpu : facts.gpus) {
      if (gpu.cpus && trim(*gpu.cpus).empty()) nodes.insert(gpu.numa.begin(), gpu.numa.end());
    }
    Finding finding = about("numa-empty-cpuset", empty);
    finding.seen = "no CPU";
    finding.message = finding.subject + (empty.gpus.size() == 1 ? " has" : " have") + " no allowed CPU on their node: the cpuset does not include NUMA node " +
                      listed(nodes);
    out.push_back(std::move(finding));
  }
  const Group cut = those(facts, [](const Gpu& gpu) { return gpu.cpus_truncated; });
  if (!cut.gpus.empty()) {
    const auto first = std::find_if(facts.gpus.begin(), facts.gpus.end(), [](const Gpu& gpu) { return gpu.cpus_truncated; });
    const auto step = stride(*first->cpus);
    Finding finding = about("cpu-list-truncated", cut);
    finding.seen = *first->cpus;
    finding.message = "CPU affinity list looks truncated (" + std::to_string(first->cpus->size()) + " characters" +
                      (step ? ", stride " + std::to_string(*step) : "") + "): \"" + *first->cpus + "\" is not all of the node's CPUs";
    out.push_back(std::move(finding));
  }
  const Group bad = those(facts, [](const Gpu& gpu) { return gpu.cpus && !gpu.cpus_truncated && is_unusable(*gpu.cpus); });
  if (!bad.gpus.empty()) {
    const auto first = std::find_if(facts.gpus.begin(), facts.gpus.end(), [&](const Gpu& gpu) { return gpu.index == bad.gpus.front(); });
    Finding finding = about("cpu-list-unusable", bad);
    finding.seen = *first->cpus;
    finding.message = "\"" + *first->cpus + "\" is no usable CPU set: " + finding.subject + " are not pinned by it";
    out.push_back(std::move(finding));
  }
}

void judge_nodes(const Facts& facts, const Policy& policy, Findings& out) {
  const Group bodiless = those(facts, [&](const Gpu& gpu) {
    return !gpu.numa.empty() && std::all_of(gpu.numa.begin(), gpu.numa.end(), [&](std::int32_t one) { return is_memory_only(facts, one); });
  });
  if (!bodiless.gpus.empty()) {
    Finding finding = about("numa-memory-only-node", bodiless);
    std::vector<std::string> plans;
    for (const Gpu& gpu : facts.gpus) {
      if (std::find(bodiless.gpus.begin(), bodiless.gpus.end(), gpu.index) == bodiless.gpus.end()) continue;
      const PinPlan plan = pin_plan(facts, gpu);
      plans.push_back(label_of(gpu) + " is given node " + listed(gpu.numa) +
                      (plan.node ? ", its CPUs are on node " + std::to_string(*plan.node) : ", and no node holds its CPUs"));
    }
    finding.message = "NUMA nodes without CPUs: " + join_some(plans, 16);
    out.push_back(std::move(finding));
  }
  if (hides_second_socket(facts)) {
    Finding finding = finding_of("numa-single-node", "");
    finding.seen = "one NUMA node";
    finding.message = "a node of the 2-socket class shows a single NUMA node" +
                      (facts.gpus.empty() ? std::string{} : " for its " + std::to_string(facts.gpus.size()) + " GPUs") + ": NUMA pinning cannot be verified";
    for (const Gpu& gpu : facts.gpus) {
      if (!gpu.shown.text.empty() && finding.evidence.size() < 2) finding.evidence.push_back(gpu.shown);
    }
    out.push_back(std::move(finding));
  }
  const auto nodes = static_cast<std::int32_t>(nodes_with_cpus(facts).size());
  if (policy.numa_nodes && nodes > 0 && nodes < *policy.numa_nodes) {
    Finding finding = finding_of("numa-topology", "NUMA nodes");
    finding.severity = diagnosis::Severity::Error;
    finding.seen = std::to_string(nodes);
    finding.wanted = std::to_string(*policy.numa_nodes);
    finding.message = finding.seen + " NUMA nodes have CPUs, the policy asks for " + finding.wanted;
    out.push_back(std::move(finding));
  }
}

}  // namespace

void judge_numa(const Facts& facts, const Policy& policy, Findings& out) {
  judge_locality(facts, out);
  judge_cpu_lists(facts, out);
  judge_nodes(facts, policy, out);
}

}  // namespace verl::topology
