// What the facts of one node mean: which NIC is near which GPU, which GPUs have NVLink between them, which groups of GPUs suit
// tensor parallelism. Pure; says nothing where a relation was not seen.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "diagnosis/topology/facts.h"

namespace verl::topology {

// Relations by their two names, in either order.
class Relations {
 public:
  explicit Relations(const Facts& facts);
  const Relation* between(const std::string& a, const std::string& b) const;  // nullptr: not seen

 private:
  std::map<std::pair<std::string, std::string>, const Relation*> by_names_{};
};

struct Nearest {
  Link link{Link::Unknown};           // Unknown: no relation of this GPU to any NIC is known
  std::vector<std::string> nics{};    // labels, in the order of the tool
  bool complete{true};                // false: some relation of this GPU was not seen
  bool operator==(const Nearest&) const = default;
};

Nearest nearest_nics(const Facts& facts, const Relations& relations, const std::string& gpu);

// Pairs of GPUs joined by NVLink or XGMI, in order.
std::vector<Relation> direct_pairs(const Facts& facts);

// Sets of GPU indices that are joined through such pairs, each of two or more.
std::vector<std::vector<std::int32_t>> joined_gpus(const Facts& facts);

// How well GPUs with these indices work as one tensor-parallel group.
enum class GroupFit {
  Direct,   // every pair has NVLink or XGMI
  Equal,    // no pair has, and none of the node's GPUs could do better
  Worse,    // a pair lacks a direct link that other pairs of the node have
  Sliced,   // MIG is on: no peer access between slices
  Unknown,  // a relation was not seen, or the view shows no NVLink
};

GroupFit group_fit(const Facts& facts, const Relations& relations, const std::vector<std::int32_t>& gpus);
std::string_view to_string(GroupFit fit);

// Splits all GPUs into groups of `size`, every pair of a group directly linked, with most links in sum; nothing when no such
// split exists or there are more than kMostGrouped GPUs.
constexpr std::size_t kMostGrouped = 16;
std::optional<std::vector<std::vector<std::int32_t>>> direct_groups(const Facts& facts, const Relations& relations, std::size_t size);

// GPUs that a job can have whole: those without MIG.
std::vector<std::int32_t> whole_gpus(const Facts& facts);

// "GPU0,GPU3"
std::string labels_of(const std::vector<std::int32_t>& gpus);

}  // namespace verl::topology
