// Logs of several hosts against each other: the odd one out is named.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "diagnosis/judge.h"
#include "diagnosis/rule.h"

namespace verl::diagnosis {
namespace {

using log::Communicator;
using log::Process;

using Nodes = std::vector<std::string>;

// What most nodes have; of equals the first by name.
std::map<std::string, Nodes>::const_iterator most_of(const std::map<std::string, Nodes>& by_value) {
  return std::max_element(by_value.begin(), by_value.end(), [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
}

void compare_networks(const Fleet& fleet, Findings& out) {
  std::map<std::string, Nodes> by_network;
  for (const auto& [name, node] : fleet) {
    std::set<std::string> networks;
    for (const Process& one : node.log.processes) networks.insert(one.network);
    networks.erase("");
    if (networks.size() == 1) by_network[*networks.begin()].push_back(name);  // several: judged on the node itself
  }
  if (by_network.size() < 2) return;
  const auto most = most_of(by_network);
  for (const auto& [network, nodes] : by_network) {
    if (network == most->first) continue;
    Finding finding = finding_of("log-network-differs", network);
    finding.nodes = nodes;
    finding.seen = network;
    finding.wanted = most->first;
    finding.message = fmt::format("{} ended on {} while {} on {}", join_some(nodes, 8), network, join_some(most->second, 8), most->first);
    for (const std::string& name : nodes) {
      for (const Process& one : fleet.at(name).log.processes) {
        if (one.network_at.line > 0 && finding.evidence.size() < 3) finding.evidence.push_back(one.network_at);
      }
    }
    out.push_back(std::move(finding));
  }
}

void compare_gpudirect(const Fleet& fleet, Findings& out) {
  Nodes with;
  Nodes without;
  for (const auto& [name, node] : fleet) {
    std::int64_t net = 0;
    std::int64_t gdr = 0;
    for (const Process& one : node.log.processes) {
      net += one.net_channels;
      gdr += one.gdr_channels;
    }
    if (net > 0) (gdr == 0 ? without : with).push_back(name);
  }
  if (with.empty() || without.empty()) return;
  Finding finding = finding_of("NCCL610", "GDRDMA");
  finding.nodes = without;
  finding.message = fmt::format("{} sends without GPUDirect RDMA while {} with it", join_some(without, 8), join_some(with, 8));
  out.push_back(std::move(finding));
}

struct Joined {
  std::int64_t ranks{0};
  std::int64_t nodes{0};
  std::set<std::int32_t> started{};
  std::set<std::int32_t> completed{};
  Nodes hosts{};
  std::map<std::string, Nodes> channels{};
  std::map<std::string, std::size_t> channel_ranks{};
};

void compare_communicators(const Fleet& fleet, Findings& out) {
  std::map<std::string, Joined> joined;
  for (const auto& [name, node] : fleet) {
    for (const Communicator& one : node.log.communicators) {
      if (!one.shared_id) continue;
      Joined& all = joined[one.id];
      all.ranks = std::max(all.ranks, one.ranks);
      all.nodes = std::max(all.nodes, one.nodes);
      all.started.insert(one.started.begin(), one.started.end());
      all.completed.insert(one.completed.begin(), one.completed.end());
      all.hosts.push_back(name);
      for (const auto& [counts, ranks] : one.channels) {
        all.channels[counts].push_back(name);
        all.channel_ranks[counts] += ranks.size();
      }
    }
  }
  std::size_t said = 0;
  for (const auto& [id, all] : joined) {
    if (said > 16) return;
    const auto seen = static_cast<std::int64_t>(all.started.size());
    // Logs of a few ranks say nothing about the others; where most are there the missing ones are the point.
    if (all.completed.empty() && seen > 1 && seen < all.ranks && all.ranks - seen <= all.ranks / 2) {
      Nodes missing;
      for (std::int32_t rank = 0; rank < all.ranks && missing.size() < 64; ++rank) {
        if (!all.started.contains(rank)) missing.push_back(std::to_string(rank));
      }
      Finding finding = finding_of("NCCL606", "0x" + id + " ranks");
      finding.seen = fmt::format("{} of {}", seen, all.ranks);
      finding.message = fmt::format("communicator 0x{}: rank {} of {} never began", id, join_some(missing, 8), all.ranks);
      finding.nodes = all.hosts;
      out.push_back(std::move(finding));
      ++said;
    }
    const bool whole = seen == all.ranks || static_cast<std::int64_t>(all.completed.size()) == all.ranks;
    const auto hosts = static_cast<std::int64_t>(all.hosts.size());
    if (all.nodes > 0 && (hosts > all.nodes || (whole && hosts < all.nodes))) {
      Finding finding = finding_of("NCCL605", "0x" + id);
      finding.seen = std::to_string(all.nodes);
      finding.wanted = std::to_string(hosts);
      finding.message = fmt::format("NCCL counts {} nodes in communicator 0x{}, its ranks run on {} ({})", all.nodes, id, hosts, join_some(all.hosts, 8));
      finding.nodes = all.hosts;
      out.push_back(std::move(finding));
      ++said;
    }
    if (all.channels.size() > 1) {
      const auto most = std::max_element(all.channel_ranks.begin(), all.channel_ranks.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
      for (const auto& [counts, nodes] : all.channels) {
        if (counts == most->first) continue;
        Finding finding = finding_of("NCCL609", "0x" + id);
        finding.nodes = nodes;
        finding.seen = counts;
        finding.wanted = most->first;
        finding.message = fmt::format("{} has \"{}\" in communicator 0x{}, most ranks have \"{}\"", join_some(nodes, 8), counts, id, most->first);
        out.push_back(std::move(finding));
        ++said;
      }
    }
  }
}

}  // namespace

void compare_log(const Fleet& fleet, const Policy&, Findings& out) {
  compare_networks(fleet, out);
  compare_gpudirect(fleet, out);
  compare_communicators(fleet, out);
}

}  // namespace verl::diagnosis
