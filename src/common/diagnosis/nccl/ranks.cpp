// Ranks of one node against each other, as far as their environments and the processes' view of the host are known.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "diagnosis/nccl/fleet.h"
#include "diagnosis/rule.h"

namespace verl::nccl {
namespace {

using diagnosis::Finding;
using diagnosis::Findings;

void judge_host_ids(const std::vector<Member>& members, Findings& out) {
  std::vector<Said> said;
  bool set = false;
  for (const Member& one : members) {
    const auto id = value_of(*one.settings, "NCCL_HOSTID");
    set = set || id;
    said.push_back({.node = one.node, .value = id ? fmt::format("\"{}\"", *id) : "not set"});
  }
  const Split split = split_of(std::move(said));
  if (!set || !differs(split)) return;
  Finding finding = finding_of_split("NCCL406", "NCCL_HOSTID", "NCCL_HOSTID differs inside the node", split);
  finding.nodes.clear();
  out.push_back(std::move(finding));
}

void judge_hostnames(const diagnosis::NodeFacts& node, const std::vector<Effective>& environments, Findings& out) {
  const bool id = !environments.empty() && std::all_of(environments.begin(), environments.end(), [](const Effective& one) { return value_of(one, "NCCL_HOSTID").has_value(); });
  std::map<std::string, std::string> first_of;
  for (const HostProcess& one : node.nccl.host.processes) {
    if (!one.hostname.empty()) first_of.emplace(one.hostname, one.name);
  }
  if (id || first_of.size() < 2) return;
  std::vector<std::string> texts;
  for (const auto& [hostname, name] : first_of) texts.push_back(fmt::format("{} is {}", name, hostname));
  Finding finding = diagnosis::finding_of("NCCL407", "hostname");
  finding.message = fmt::format("NCCL counts this node {} times, once for each hostname: {}", first_of.size(), join_some(texts, 8));
  out.push_back(std::move(finding));
}

}  // namespace

void judge_ranks(const diagnosis::NodeFacts& node, const diagnosis::Policy& policy, Findings& out) {
  const std::optional<Version> version = known_version(node.nccl, policy);
  const std::vector<Effective> environments = effective_environments(node.nccl, version);
  judge_hostnames(node, environments, out);
  std::map<std::string, std::vector<Member>> groups;
  for (size_t i = 0; i < environments.size(); ++i) {
    // Two files without a word of whose they are may be anybody's on the node: a daemon's, another job's.
    const std::string& origin = environments[i].origin;
    if (!origin.empty()) groups[group_of(origin)].push_back({.node = origin, .settings = &environments[i], .version = version});
  }
  for (const auto& [name, members] : groups) {
    if (members.size() < 2) continue;
    judge_differences(members, true, out);
    judge_host_ids(members, out);
  }
}

}  // namespace verl::nccl
