// Which node labels tell how near two nodes are, by vendor. Numbers in the names run both ways: the highest layer of AWS is the
// nearest, tier-0 of Topograph and tier-1 of Nebius are.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace verl::kubernetes {

using Labels = std::map<std::string, std::string>;

struct TopologyLevel {
  std::string label{};
  std::string value{};
  bool operator==(const TopologyLevel&) const = default;
};

struct NodeTopology {
  std::string provider{};                // "aws", "gke", "oke", "nebius", "coreweave", "topograph"; empty: no such label
  std::vector<TopologyLevel> levels{};   // those that are there, the farthest first
  std::vector<std::string> missing{};    // labels of the vendor's fixed scheme that are not there
  TopologyLevel rack{};                  // empty: not known
  std::string nvlink_domain{};           // cluster UUID of nvidia.com/gpu.clique: only on multi-node NVLink
  std::string nvlink_partition{};        // the clique's number behind it
  bool operator==(const NodeTopology&) const = default;
};

NodeTopology topology_of(const Labels& labels);

// In one NVLink domain, or, where a node has none, under one rack label. Unknown is equal to nobody.
bool same_rack(const NodeTopology& a, const NodeTopology& b);

// What a name becomes as a label's value: itself up to 63 characters, else "x" and its FNV-64a hash in hex (as Topograph writes it).
std::string label_value(std::string_view name);

}  // namespace verl::kubernetes
