// Nodes against each other by what their Kubernetes objects say.
#include "diagnosis/judge.h"

#include <fmt/format.h>

#include <set>

#include "diagnosis/rule.h"

namespace verl::diagnosis {

void judge_kubernetes(const NodeFacts&, const Policy&, Findings&) {}

void compare_kubernetes(const Fleet& fleet, const Policy&, Findings& out) {
  std::map<std::string, std::map<std::int32_t, std::string>> layers;  // by provider: how many, and a node that has them
  for (const auto& [name, facts] : fleet) {
    if (!facts.kubernetes.topology_provider.empty()) layers[facts.kubernetes.topology_provider].emplace(facts.kubernetes.topology_layers, name);
  }
  for (const auto& [provider, counts] : layers) {
    if (counts.size() < 2) continue;
    Finding finding = finding_of("node-topology-depth", provider);
    const auto& few = *counts.begin();
    const auto& many = *counts.rbegin();
    finding.nodes = {few.second, many.second};
    finding.seen = fmt::format("{} and {} layers", few.first, many.first);
    finding.message = fmt::format("{} has {} topology layers, {} has {}", few.second, few.first, many.second, many.first);
    out.push_back(std::move(finding));
  }
}

}  // namespace verl::diagnosis
