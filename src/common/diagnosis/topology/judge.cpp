// Judges the topology of one node from all that its documents say, and compares nodes. Each idea has a file of its own.
#include "diagnosis/judge.h"

#include <map>

#include "base/text.h"
#include "diagnosis/rule.h"
#include "diagnosis/topology/judge_parts.h"

namespace verl::diagnosis {
namespace {

// The value that most nodes have, and the nodes that have another.
struct Odd {
  std::string usual{};
  std::map<std::string, std::vector<std::string>> others{};  // value -> nodes
};

Odd odd_ones(const std::map<std::string, std::string>& values) {
  std::map<std::string, std::vector<std::string>> by_value;
  for (const auto& [node, value] : values) by_value[value].push_back(node);
  Odd odd;
  size_t most = 0;
  for (const auto& [value, nodes] : by_value) {
    if (nodes.size() <= most) continue;
    most = nodes.size();
    odd.usual = value;
  }
  by_value.erase(odd.usual);
  odd.others = std::move(by_value);
  return odd;
}

void compare(std::string_view id, const std::string& subject, const std::map<std::string, std::string>& values, Findings& out) {
  const Odd odd = odd_ones(values);
  for (const auto& [value, nodes] : odd.others) {
    Finding finding = finding_of(id, subject);
    finding.nodes = nodes;
    finding.seen = value;
    finding.wanted = odd.usual;
    finding.message = join_some(nodes, 8) + (nodes.size() == 1 ? " has " : " have ") + subject + " " + value + ", most others " + odd.usual;
    out.push_back(std::move(finding));
  }
}

}  // namespace

void judge_topology(const NodeFacts& node, const Policy& policy, Findings& out) {
  topology::judge_numa(node.topology, policy, out);
  topology::judge_nics(node.topology, node.fabric, out);
  topology::judge_gpus(node.topology, policy, out);
  topology::judge_nvlink(node.topology, out);
  topology::judge_pcie(node.topology, out);
  topology::judge_nccl_files(node, policy, out);
}

void compare_topology(const Fleet& fleet, const Policy&, Findings& out) {
  std::map<std::string, std::string> gpus;
  std::map<std::string, std::string> nics;
  std::map<std::string, std::string> drivers;
  for (const auto& [name, node] : fleet) {
    const topology::Facts& facts = node.topology;
    if (!facts.gpus.empty()) gpus[name] = std::to_string(facts.gpus.size());
    if (!facts.relations.empty() && !facts.incomplete) nics[name] = std::to_string(facts.nics.size());
    if (!facts.driver_version.empty()) drivers[name] = facts.driver_version;
  }
  compare("topology-differs", "number of GPUs", gpus, out);
  compare("topology-differs", "number of NICs", nics, out);
  compare("driver-version", "GPU driver", drivers, out);
}

}  // namespace verl::diagnosis
