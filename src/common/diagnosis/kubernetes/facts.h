// What limits of the container and the node's Kubernetes object say.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace verl::kubernetes {

struct Facts {
  std::optional<std::int64_t> memlock_bytes{};  // -1: unlimited
  std::optional<std::int64_t> shm_bytes{};
  std::optional<std::int64_t> shm_free_bytes{};
  std::string kubelet_version{};
  std::string topology_provider{};              // whose topology labels the node carries: "aws"; empty: none
  std::int32_t topology_layers{0};              // how many of them
  std::string rack{};                           // value of the label that stands for its rack; empty: unknown, and equal to nobody's
  bool operator==(const Facts&) const = default;
};

void merge(Facts& into, Facts more);

}  // namespace verl::kubernetes
