#include "diagnosis/kubernetes/version_skew.h"

#include "base/text.h"

namespace verl::kubernetes {

std::optional<MinorVersion> minor_version(std::string_view text) {
  text = trim(text);
  if (text.starts_with('v')) text.remove_prefix(1);
  const size_t dot = text.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto major = parse_int<int>(text.substr(0, dot));
  std::string_view rest = text.substr(dot + 1);
  const auto minor = parse_int<int>(rest.substr(0, rest.find_first_not_of("0123456789")));
  if (!major || !minor || *major < 0 || *minor < 0) return std::nullopt;
  return MinorVersion{.major = *major, .minor = *minor};
}

Skew kubelet_skew(std::string_view api_server, std::string_view kubelet) {
  constexpr int kOlder = 3;
  const auto server = minor_version(api_server);
  const auto node = minor_version(kubelet);
  if (!server || !node) return Skew::Unknown;
  if (node->major != server->major) return node->major > server->major ? Skew::Newer : Skew::TooOld;
  if (node->minor > server->minor) return Skew::Newer;
  return server->minor - node->minor > kOlder ? Skew::TooOld : Skew::Fine;
}

}  // namespace verl::kubernetes
