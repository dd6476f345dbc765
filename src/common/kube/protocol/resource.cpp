#include "kube/protocol/resource.h"

#include <fmt/format.h>

namespace verl::kube {

std::string api_version(const Resource& resource) {
  return resource.group.empty() ? resource.version : resource.group + "/" + resource.version;
}

std::string percent_encode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    const bool unreserved = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
                            c == '_' || c == '~';
    if (unreserved) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

std::string resource_path(const Resource& resource, std::string_view name_space, std::string_view name,
                          std::string_view subresource) {
  std::string path = resource.group.empty() ? "/api/" : "/apis/" + resource.group + "/";
  path += resource.version;
  if (resource.namespaced && !name_space.empty()) path += "/namespaces/" + percent_encode(name_space);
  path += "/" + resource.plural;
  if (!name.empty()) path += "/" + percent_encode(name);
  if (!subresource.empty()) path += "/" + std::string(subresource);
  return path;
}

}  // namespace verl::kube
