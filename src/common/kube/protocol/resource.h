// Resource types and their paths, and the few fields of metadata that every write needs.
#pragma once

#include <string>
#include <string_view>

namespace verl::kube {

// One kind as the API serves it: {"verl.run", "v1alpha1", "VerlJob", "verljobs", true}; the core group is "".
struct Resource {
  std::string group{};
  std::string version{};
  std::string kind{};
  std::string plural{};
  bool namespaced{true};
  bool operator==(const Resource&) const = default;
};

std::string api_version(const Resource& resource);  // "v1", "verl.run/v1alpha1"

// "/apis/verl.run/v1alpha1/namespaces/rl/verljobs/qwen/status". Empty `name_space` on a namespaced resource means all
// namespaces; empty `name` means the collection; `subresource` needs a name. Segments are percent-encoded.
std::string resource_path(const Resource& resource, std::string_view name_space, std::string_view name = {},
                          std::string_view subresource = {});

// Percent-encodes everything but unreserved characters (RFC 3986).
std::string percent_encode(std::string_view text);

}  // namespace verl::kube
