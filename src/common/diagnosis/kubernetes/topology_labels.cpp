#include "diagnosis/kubernetes/topology_labels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/text.h"

namespace verl::kubernetes {
namespace {

constexpr std::string_view kClique = "nvidia.com/gpu.clique";
constexpr std::size_t kLongestValue = 63;

struct Scheme {
  std::string_view provider{};
  std::array<std::string_view, 4> farthest_first{};
  std::size_t rack{0};      // index of the level that stands for the rack
  bool complete{false};     // every label of it is set on every node that has any
};

// coreweave: the leaf group of InfiniBand; an NVLink rack's own label is nearer and wins where it is set.
constexpr std::array kSchemes{
    Scheme{"gke", {"cloud.google.com/gce-topology-block", "cloud.google.com/gce-topology-subblock", "cloud.google.com/gce-topology-host", ""}, 1, true},
    Scheme{"oke", {"oci.oraclecloud.com/rdma.hpc_island_id", "oci.oraclecloud.com/rdma.network_block_id", "oci.oraclecloud.com/rdma.local_block_id", ""}, 2, true},
    Scheme{"coreweave", {"backend.coreweave.cloud/fabric", "backend.coreweave.cloud/superpod", "backend.coreweave.cloud/leafgroup", "ds.coreweave.com/nvlink.domain"}, 2, false},
};

struct Numbered {
  std::string_view provider{};
  std::string_view prefix{};
  std::string_view top{};      // a level above the numbered ones
  bool highest_is_nearest{false};
};

constexpr std::array kNumbered{
    Numbered{"aws", "topology.k8s.aws/network-node-layer-", "", true},
    Numbered{"nebius", "topology.nebius.com/tier-", "topology.nebius.com/gpu-cluster-id", false},
    Numbered{"topograph", "fabric.topograph.run/tier-", "", false},
};

void by_scheme(const Scheme& scheme, const Labels& labels, NodeTopology& out) {
  for (std::size_t i = 0; i < scheme.farthest_first.size(); ++i) {
    const std::string label(scheme.farthest_first[i]);
    if (label.empty()) continue;
    const auto found = labels.find(label);
    if (found == labels.end() || found->second.empty()) {
      if (scheme.complete) out.missing.push_back(label);
      continue;
    }
    out.levels.push_back({.label = label, .value = found->second});
    if (i == scheme.rack || (i > scheme.rack && scheme.provider == "coreweave")) out.rack = out.levels.back();
  }
  if (!out.levels.empty()) out.provider = std::string(scheme.provider);
}

void by_number(const Numbered& scheme, const Labels& labels, NodeTopology& out) {
  std::vector<std::pair<int, TopologyLevel>> found;
  for (auto one = labels.lower_bound(std::string(scheme.prefix)); one != labels.end() && one->first.starts_with(scheme.prefix); ++one) {
    const auto number = parse_int<int>(std::string_view(one->first).substr(scheme.prefix.size()));
    if (number && *number >= 0 && !one->second.empty()) found.emplace_back(*number, TopologyLevel{.label = one->first, .value = one->second});
  }
  if (found.empty()) return;
  std::sort(found.begin(), found.end(), [&](const auto& a, const auto& b) { return scheme.highest_is_nearest ? a.first < b.first : a.first > b.first; });
  out.provider = std::string(scheme.provider);
  if (const auto top = labels.find(std::string(scheme.top)); !scheme.top.empty() && top != labels.end()) out.levels.push_back({.label = top->first, .value = top->second});
  for (auto& [number, level] : found) out.levels.push_back(std::move(level));
  // Only the bottom of the scheme is a rack: a node that shows tier-2 alone has an unknown leaf.
  const std::string lowest = scheme.provider == "nebius" ? "1" : "0";
  if (scheme.highest_is_nearest || out.levels.back().label == std::string(scheme.prefix) + lowest) out.rack = out.levels.back();
}

}  // namespace

NodeTopology topology_of(const Labels& labels) {
  NodeTopology out;
  for (const Numbered& scheme : kNumbered) {
    if (out.provider.empty()) by_number(scheme, labels, out);
  }
  for (const Scheme& scheme : kSchemes) {
    if (!out.provider.empty()) break;
    out.missing.clear();
    by_scheme(scheme, labels, out);
  }
  if (out.provider.empty()) out.missing.clear();
  if (const auto clique = labels.find(std::string(kClique)); clique != labels.end() && !clique->second.empty()) {
    const std::size_t dot = clique->second.rfind('.');
    out.nvlink_domain = clique->second.substr(0, dot);
    if (dot != std::string::npos) out.nvlink_partition = clique->second.substr(dot + 1);
  }
  return out;
}

bool same_rack(const NodeTopology& a, const NodeTopology& b) {
  if (!a.nvlink_domain.empty() && !b.nvlink_domain.empty()) return a.nvlink_domain == b.nvlink_domain;
  return !a.rack.value.empty() && a.rack == b.rack;
}

std::string label_value(std::string_view name) {
  if (name.size() <= kLongestValue) return std::string(name);
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return fmt::format("x{:x}", hash);
}

}  // namespace verl::kubernetes
