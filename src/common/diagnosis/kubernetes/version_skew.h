// May this kubelet work with that API server? Kubernetes' version skew policy: up to three minor versions older, never newer.
#pragma once

#include <optional>
#include <string_view>

namespace verl::kubernetes {

struct MinorVersion {
  int major{0};
  int minor{0};
  bool operator==(const MinorVersion&) const = default;
};

// "v1.34.3", "1.31.9-gke.100", "v1.33+"; nothing for other text.
std::optional<MinorVersion> minor_version(std::string_view text);

enum class Skew { Fine, TooOld, Newer, Unknown };

Skew kubelet_skew(std::string_view api_server, std::string_view kubelet);

}  // namespace verl::kubernetes
