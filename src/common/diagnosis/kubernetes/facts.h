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
  bool operator==(const Facts&) const = default;
};

void merge(Facts& into, Facts more);

}  // namespace verl::kubernetes
