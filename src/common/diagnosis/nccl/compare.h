// The same setting on all nodes of a set: who deviates, from what, and whether it matters.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "diagnosis/nccl/conf.h"
#include "diagnosis/nccl/settings.h"

namespace verl::nccl {

using SettingsByNode = std::map<std::string, std::vector<Setting>>;

struct DeviatingNode {
  std::string node{};
  std::optional<std::string> value{};  // nothing: not set there
  bool operator==(const DeviatingNode&) const = default;
};

struct Deviation {
  std::string name{};
  Match match{Match::Unlisted};
  bool tie{false};                        // no value has the most nodes: then every node deviates
  std::optional<std::string> majority{};  // what most nodes have; nothing: not set there (or a tie)
  std::vector<DeviatingNode> nodes{};     // by name
  bool operator==(const Deviation&) const = default;
};

// Sorted by name. Only settings for which a difference says something: Equal, Uniform and Unlisted ones that differ, and
// Distinct ones that do not. "Not set" counts as a value. Give it only nodes whose settings are known.
std::vector<Deviation> compare_nccl_settings(const SettingsByNode& nodes);

}  // namespace verl::nccl
