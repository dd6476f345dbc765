// Settings against settings, and text that leads to different things on different nodes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"
#include "diagnosis/nccl/devices.h"
#include "diagnosis/nccl/fleet.h"
#include "diagnosis/nccl/gids.h"
#include "diagnosis/nccl/interfaces.h"
#include "diagnosis/rule.h"

namespace verl::nccl {
namespace {

using diagnosis::Finding;
using diagnosis::Findings;
using diagnosis::Severity;

constexpr size_t kShown = 4;

std::string_view rule_for(const Difference& difference, bool inside_node) {
  const bool unset = difference.unset_somewhere && difference.one_value;
  switch (difference.agreement) {
    case Agreement::All:
    case Agreement::Pair: return unset ? "NCCL402" : "NCCL401";
    case Agreement::Node: return inside_node ? "NCCL404" : "";
    case Agreement::Policy:
    case Agreement::Domain: return "NCCL403";
    case Agreement::Unclear: return difference.name.starts_with("NCCL_") ? "NCCL403" : "";
    case Agreement::Process:
    case Agreement::Fabric:
    case Agreement::PerNode:
    case Agreement::Distinct:
    case Agreement::Local:
    case Agreement::Never: return "";
  }
  return "";
}

std::vector<Member> members_of(const FleetGroup& group) {
  std::vector<Member> members;
  for (const FleetNode& node : group.nodes) {
    if (node.lives_in_environment) members.push_back({.node = node.name, .settings = node.situation.settings, .version = node.situation.version});
  }
  // Where one node's environment is known and of another only its files, what is not set in the files may be set beside them.
  const auto files_alone = [](const Member& one) { return one.settings->kind == EnvironmentKind::Conf; };
  if (!std::all_of(members.begin(), members.end(), files_alone)) members.erase(std::remove_if(members.begin(), members.end(), files_alone), members.end());
  return members;
}

// The configuration files alone: what the environment may hide.
void compare_files(const FleetGroup& group, const std::vector<Difference>& known, Findings& out) {
  std::vector<std::vector<Effective>> kept;
  std::vector<Member> members;
  kept.reserve(group.nodes.size());
  for (const FleetNode& node : group.nodes) {
    Facts files;
    for (const Environment& one : node.situation.node->nccl.environments) {
      if (one.kind == EnvironmentKind::Conf) files.environments.push_back(one);
    }
    if (files.environments.empty()) continue;
    kept.push_back(effective_environments(files, node.situation.version));
    if (!kept.back().empty()) members.push_back({.node = node.name, .settings = &kept.back().front(), .version = node.situation.version});
  }
  if (members.size() < 2) return;
  for (Difference& difference : differences(members)) {
    const bool said = std::any_of(known.begin(), known.end(), [&](const Difference& one) { return one.name == difference.name; });
    const bool counts = difference.agreement == Agreement::Node || !rule_for(difference, false).empty();
    if (said || !counts) continue;
    Finding finding = finding_of_split("NCCL416", difference.name, fmt::format("{} in configuration files", difference.name), difference.split);
    finding.evidence = std::move(difference.evidence);
    out.push_back(std::move(finding));
  }
}

// Where a text leads on one node: to something that works, to nothing, or nobody can tell.
struct Lead {
  Life life{Life::Unknown};
  std::string why{};  // not Alive: in words
};

Lead device_lead(const Situation& situation) {
  if (situation.node->fabric.ports.empty()) return {};
  const Devices devices = devices_of(situation);
  if (!devices.alive.empty()) return {.life = Life::Alive, .why = {}};
  if (!devices.unknown.empty()) return {};
  if (devices.selected.empty()) return {.life = Life::Dead, .why = "no device has that name"};
  return {.life = Life::Dead, .why = fmt::format("{} {} down", join_some(port_names(devices.selected), kShown), devices.selected.size() == 1 ? "is" : "are")};
}

Lead interface_lead(const Situation& situation) {
  const InterfaceChoice choice = interfaces_of(situation);
  if (!choice.known || !choice.listed) return {};
  if (choice.taken.empty()) return {.life = Life::Dead, .why = "no interface with an address has that name"};
  const auto live = std::find_if(choice.taken.begin(), choice.taken.end(), [](const Candidate& one) { return !is_dead(*one.interface); });
  if (live == choice.taken.end()) return {.life = Life::Dead, .why = fmt::format("{} has no carrier", choice.taken.front().interface->name)};
  return {.life = Life::Alive, .why = {}};
}

Lead gid_lead(const Situation& situation) {
  if (!pinned_gid(situation)) return {};
  const Devices devices = devices_of(situation);
  Lead lead;
  for (const fabric::Port* port : roce_of(devices, situation.node->fabric)) {
    const auto chosen = chosen_gid(situation, *port);
    if (!chosen) continue;
    const std::string why = why_unusable(*port, *chosen);
    if (!why.empty()) return {.life = Life::Dead, .why = fmt::format("index {} of {} {}", chosen->index, port_name(*port), why)};
    if (types_known(*port)) lead.life = Life::Alive;
  }
  return lead;
}

struct Named {
  std::string_view variable{};
  Lead (*lead)(const Situation&){nullptr};
};

constexpr std::array kNamed{Named{"NCCL_IB_HCA", device_lead}, Named{"NCCL_SOCKET_IFNAME", interface_lead}, Named{"NCCL_IB_GID_INDEX", gid_lead}};

void compare_leads(const FleetGroup& group, const Named& named, Findings& out) {
  struct Users {
    size_t alive{0};
    std::vector<std::string> dead{};
    std::vector<std::string> reasons{};
  };
  std::map<std::string, Users> by_text;
  for (const FleetNode& node : group.nodes) {
    const auto text = text_of(node.situation, named.variable);
    if (!text) continue;
    const Lead lead = named.lead(node.situation);
    Users& users = by_text[*text];
    if (lead.life == Life::Alive) ++users.alive;
    if (lead.life != Life::Dead) continue;
    users.dead.push_back(node.name);
    if (users.reasons.size() < kShown) users.reasons.push_back(fmt::format("on {} {}", node.name, lead.why));
  }
  for (const auto& [text, users] : by_text) {
    if (users.alive == 0 || users.dead.empty()) continue;
    Finding finding = diagnosis::finding_of("NCCL408", std::string(named.variable));
    finding.nodes = users.dead;
    finding.seen = text;
    finding.message = fmt::format("{}={} works on {} of {} nodes, but {}{}", named.variable, text, users.alive, users.alive + users.dead.size(), join(users.reasons, ", "),
                                  users.dead.size() > users.reasons.size() ? fmt::format(" and on {} more it does not", users.dead.size() - users.reasons.size()) : "");
    out.push_back(std::move(finding));
  }
}

// An empty text is a value here: the same on every node that has it.
void compare_host_ids(const FleetGroup& group, Findings& out) {
  std::map<std::string_view, std::vector<std::string>> by_id;
  for (const FleetNode& node : group.nodes) {
    if (const auto id = value_of(*node.situation.settings, "NCCL_HOSTID")) by_id[*id].push_back(node.name);
  }
  for (const auto& [id, nodes] : by_id) {
    if (nodes.size() < 2) continue;
    Finding finding = diagnosis::finding_of("NCCL406", "NCCL_HOSTID");
    finding.nodes = nodes;
    finding.seen = std::string(id);
    finding.message = fmt::format("{} have the same NCCL_HOSTID \"{}\": their ranks try to reach each other as if they were one machine", join_some(nodes, kShown), id);
    out.push_back(std::move(finding));
  }
}

void judge(std::vector<Difference> found, bool inside_node, Findings& out) {
  for (Difference& difference : found) {
    const std::string_view id = rule_for(difference, inside_node);
    if (id.empty()) continue;
    Finding finding = finding_of_split(id, difference.name, fmt::format("{} differs", difference.name), difference.split);
    if (difference.agreement == Agreement::Unclear) finding.severity = Severity::Info;
    if (id == "NCCL402") finding.message = fmt::format("{} is not set everywhere: {}", difference.name, sides_text(difference.split));
    if (difference.agreement == Agreement::Unclear) finding.message += "; whether it must agree is not known";
    finding.evidence = std::move(difference.evidence);
    if (inside_node) finding.nodes.clear();
    out.push_back(std::move(finding));
  }
}

}  // namespace

void judge_differences(const std::vector<Member>& members, bool inside_node, Findings& out) { judge(differences(members), inside_node, out); }

void compare_settings(const FleetGroup& group, Findings& out) {
  const std::vector<Member> members = members_of(group);
  const std::vector<Difference> found = members.size() < 2 ? std::vector<Difference>{} : differences(members);
  judge(found, false, out);
  compare_files(group, found, out);
  compare_host_ids(group, out);
  for (const Named& named : kNamed) compare_leads(group, named, out);
}

}  // namespace verl::nccl
