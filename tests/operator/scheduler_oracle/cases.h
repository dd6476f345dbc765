// Random pairs of a node with its occupants and a pod pinned to it, as manifests. Chosen so that about half of the pods
// fit and sizes often come out exactly equal. The same seed gives the same pair on every platform.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "api/node.h"

namespace verl::oracle {

struct Case {
  std::uint64_t seed{0};
  nlohmann::json node{};
  std::vector<nlohmann::json> occupants{};  // bound by nodeName
  nlohmann::json pod{};                     // pinned by name; labelled, so that its conditions are decoded
  // What of the pod api::Pod does not keep.
  std::vector<api::Toleration> tolerations{};
  api::Labels node_selector{};
};

inline const std::string kNamespace = "oracle";

// Objects that the cases refer to: the namespace and RuntimeClasses with overhead.
nlohmann::json surroundings();

Case make_case(std::uint64_t seed);

std::string node_name(std::uint64_t seed);
std::string pod_name(std::uint64_t seed);

}  // namespace verl::oracle
