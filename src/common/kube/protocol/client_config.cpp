#include "kube/protocol/client_config.h"

#include <algorithm>

#include "kube/protocol/resource.h"

namespace verl::kube {

std::vector<Header> impersonation_headers(const Impersonation& impersonation) {
  std::vector<Header> out;
  if (!impersonation.user.empty()) out.push_back(Header{.name = "Impersonate-User", .value = impersonation.user});
  if (!impersonation.uid.empty()) out.push_back(Header{.name = "Impersonate-Uid", .value = impersonation.uid});
  for (const std::string& group : impersonation.groups) out.push_back(Header{.name = "Impersonate-Group", .value = group});
  for (const auto& [key, values] : impersonation.extra) {
    std::string lower = key;
    std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    for (const std::string& value : values) out.push_back(Header{.name = "Impersonate-Extra-" + percent_encode(lower), .value = value});
  }
  return out;
}

}  // namespace verl::kube
