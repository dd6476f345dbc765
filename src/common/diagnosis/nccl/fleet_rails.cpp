// Rails of nodes against each other: how many, how fast, which MTU, GID and partition. Rail meets rail by the name of its port
// where names are shared, else by its place in the order.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "base/text.h"
#include "diagnosis/nccl/devices.h"
#include "diagnosis/nccl/fleet.h"
#include "diagnosis/nccl/gids.h"
#include "diagnosis/rule.h"

namespace verl::nccl {
namespace {

using diagnosis::Finding;
using diagnosis::Findings;
using diagnosis::Severity;

struct NodeRails {
  const FleetNode* node{nullptr};
  std::vector<const fabric::Port*> rails{};
};

// What one rail is asked; nothing: not known there.
using Question = std::function<std::optional<std::string>(const Situation&, const fabric::Port&)>;

std::vector<NodeRails> rails_by_node(const FleetGroup& group) {
  std::vector<NodeRails> all;
  for (const FleetNode& node : group.nodes) {
    const fabric::Facts& facts = node.situation.node->fabric;
    if (facts.ports.empty() || !may_use_rdma(node.situation)) continue;
    const Devices devices = devices_of(node.situation);
    if (devices.alive.empty() && !devices.unknown.empty()) continue;  // a list of names proves nothing
    all.push_back({.node = &node, .rails = rails_of(devices, facts)});
  }
  return all;
}

// Rails that meet: each node's port under one name.
using Meetings = std::map<std::string, std::vector<std::pair<const FleetNode*, const fabric::Port*>>>;

Meetings meetings_of(const std::vector<NodeRails>& all) {
  std::map<std::string, size_t> users;
  for (const NodeRails& one : all) {
    for (const fabric::Port* port : one.rails) ++users[port_name(*port)];
  }
  const bool shared = std::any_of(users.begin(), users.end(), [&](const auto& one) { return one.second == all.size(); });
  const bool equally_many = std::all_of(all.begin(), all.end(), [&](const NodeRails& one) { return one.rails.size() == all.front().rails.size(); });
  Meetings meetings;
  if (!shared && !equally_many) return meetings;
  for (const NodeRails& one : all) {
    for (size_t i = 0; i < one.rails.size(); ++i) {
      meetings[shared ? port_name(*one.rails[i]) : fmt::format("rail {:02}", i)].emplace_back(one.node, one.rails[i]);
    }
  }
  return meetings;
}

// One finding for all rails that are split in the same way.
void compare_answers(const Meetings& meetings, std::string_view id, std::string_view what, const Question& question, const std::function<void(Finding&)>& finish,
                     Findings& out) {
  std::vector<std::pair<Split, std::vector<std::string>>> splits;
  for (const auto& [rail, ports] : meetings) {
    std::vector<Said> said;
    for (const auto& [node, port] : ports) {
      if (auto answer = question(node->situation, *port)) said.push_back({.node = node->name, .value = std::move(*answer)});
    }
    Split split = split_of(std::move(said));
    if (!differs(split)) continue;
    const auto known = std::find_if(splits.begin(), splits.end(), [&](const auto& one) { return one.first == split; });
    if (known != splits.end()) {
      known->second.push_back(rail);
    } else {
      splits.emplace_back(std::move(split), std::vector<std::string>{rail});
    }
  }
  for (const auto& [split, rails] : splits) {
    const std::string names = join_some(rails, 8);
    Finding finding = finding_of_split(id, join(rails, ", "), fmt::format("{} of {} differs", what, names), split);
    if (finish) finish(finding);
    out.push_back(std::move(finding));
  }
}

// A node without any rail is the odd one whatever the others have; where its own list leaves none, NCCL303 says so.
void judge_empty(const std::vector<NodeRails>& all, size_t most, Findings& out) {
  std::vector<std::string> without;
  for (const NodeRails& one : all) {
    if (one.rails.empty() && !text_of(one.node->situation, "NCCL_IB_HCA")) without.push_back(one.node->name);
  }
  if (without.empty() || most == 0) return;
  Finding finding = diagnosis::finding_of("NCCL409", "rails");
  finding.nodes = without;
  finding.seen = "0";
  finding.wanted = std::to_string(most);
  finding.message = fmt::format("no usable rail on {}, and {} on other nodes", join_some(without, 4), most);
  out.push_back(std::move(finding));
}

void compare_counts(const std::vector<NodeRails>& all, Findings& out) {
  std::vector<Said> said;
  std::map<std::string, size_t> users;
  size_t most = 0;
  for (const NodeRails& one : all) {
    most = std::max(most, one.rails.size());
    if (!one.rails.empty()) said.push_back({.node = one.node->name, .value = std::to_string(one.rails.size())});
    for (const fabric::Port* port : one.rails) ++users[port_name(*port)];
  }
  judge_empty(all, most, out);
  const size_t nodes = said.size();
  const Split split = split_of(std::move(said));
  if (!differs(split)) return;
  Finding finding = finding_of_split("NCCL409", "rails", "the number of usable rails differs", split);
  std::vector<std::string> missing;
  for (const auto& [name, count] : users) {
    if (count < nodes && count * 2 >= nodes) missing.push_back(name);
  }
  if (!missing.empty()) finding.message += fmt::format("; not everywhere: {}", join_some(missing, 8));
  out.push_back(std::move(finding));
}

std::optional<std::string> speed_of(const Situation& situation, const fabric::Port& port) {
  const fabric::LinkLayer layer = layer_of(port, situation.node->fabric);
  if (!port.rate_gbps) return std::nullopt;
  return layer == fabric::LinkLayer::Unknown ? fmt::format("{} Gb/s", *port.rate_gbps) : fmt::format("{} {} Gb/s", to_string(layer), *port.rate_gbps);
}

std::optional<std::string> layer_text(const Situation& situation, const fabric::Port& port) {
  const fabric::LinkLayer layer = layer_of(port, situation.node->fabric);
  return layer == fabric::LinkLayer::Unknown ? std::nullopt : std::optional<std::string>{std::string(to_string(layer))};
}

std::optional<std::string> mtu_of(const Situation&, const fabric::Port& port) {
  return port.active_mtu ? std::optional<std::string>{std::to_string(*port.active_mtu)} : std::nullopt;
}

// Releases that take the sender's MTU for the path's (src/transport/net_ib/connect.cc).
bool keeps_larger_mtu(const FleetGroup& group) {
  constexpr Version kFrom = version(2, 20, 3);
  constexpr Version kUntil = version(2, 30, 3);
  return std::any_of(group.nodes.begin(), group.nodes.end(), [&](const FleetNode& node) {
    const auto& own = node.situation.version;
    return !own || (*own >= kFrom && *own < kUntil);
  });
}

std::optional<std::string> gid_of(const Situation& situation, const fabric::Port& port) {
  if (layer_of(port, situation.node->fabric) != fabric::LinkLayer::Ethernet) return std::nullopt;
  const auto chosen = chosen_gid(situation, port);
  if (!chosen || !chosen->entry || rdma::is_zero(chosen->entry->gid)) return std::nullopt;
  const rdma::Gid& gid = chosen->entry->gid;
  const std::string_view family = rdma::family_of(gid) == rdma::AddressFamily::Inet4 ? "IPv4" : rdma::is_link_local(gid) ? "link-local IPv6" : "IPv6";
  return chosen->entry->type.empty() ? std::string(family) : fmt::format("{} {}", family, chosen->entry->type);
}

std::optional<std::string> partition_of(const Situation& situation, const fabric::Port& port) {
  const auto& tables = situation.node->nccl.host.partitions;
  const auto table = tables.find(port.device + "/" + std::to_string(port.port));
  const std::int64_t index = number_of(situation, "NCCL_IB_PKEY").value_or(0);
  if (table == tables.end() || index < 0 || index >= static_cast<std::int64_t>(table->second.size())) return std::nullopt;
  return fmt::format("0x{:04x}", table->second[static_cast<size_t>(index)] & 0x7FFF);  // bit 15 is the membership
}

// Devices in the order of their PCI addresses, for nodes that call them alike.
void compare_order(const std::vector<NodeRails>& all, Findings& out) {
  std::vector<Said> said;
  std::set<std::string> names;
  for (const NodeRails& one : all) {
    std::vector<std::pair<std::string, std::string>> order;
    for (const fabric::Port* port : one.rails) {
      if (port->pci.empty()) return;
      order.emplace_back(port->pci, port_name(*port));
    }
    std::sort(order.begin(), order.end());
    std::vector<std::string> sequence;
    for (const auto& [pci, name] : order) sequence.push_back(name);
    said.push_back({.node = one.node->name, .value = join(sequence, ", ")});
    std::sort(sequence.begin(), sequence.end());
    names.insert(join(sequence, ", "));
  }
  const Split split = split_of(std::move(said));
  if (names.size() != 1 || !differs(split)) return;
  out.push_back(finding_of_split("NCCL419", "rails", "the order of rails by PCI address differs", split));
}

}  // namespace

void compare_rails(const FleetGroup& group, Findings& out) {
  std::vector<NodeRails> all = rails_by_node(group);
  if (all.size() < 2) return;
  compare_counts(all, out);
  all.erase(std::remove_if(all.begin(), all.end(), [](const NodeRails& one) { return one.rails.empty(); }), all.end());
  if (all.size() < 2) return;
  const Meetings meetings = meetings_of(all);
  const size_t before = out.size();
  compare_answers(meetings, "NCCL410", "the rate", speed_of, {}, out);
  if (out.size() == before) compare_answers(meetings, "NCCL410", "the link layer", layer_text, {}, out);
  const bool fatal = keeps_larger_mtu(group);
  compare_answers(meetings, "NCCL411", "active_mtu", mtu_of, [&](Finding& finding) {
    if (!fatal) finding.severity = Severity::Warning;
  }, out);
  compare_answers(meetings, "NCCL412", "the GID", gid_of, {}, out);
  compare_answers(meetings, "NCCL413", "the P_Key", partition_of, {}, out);
  compare_order(all, out);
}

}  // namespace verl::nccl
