// From a merged kubeconfig and the flags to one ClientConfig, refusing by name what we do not support.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "kube/protocol/client_config.h"
#include "kube/protocol/kubeconfig.h"

namespace verl::kube {

// What a program's flags say; empty means not given.
struct ConfigFlags {
  std::string kubeconfig{};
  std::string context{};
  std::string cluster{};
  std::string user{};
  std::string name_space{};
  std::string server{};
  std::string token{};
  std::string as{};
  std::string as_uid{};
  std::vector<std::string> as_groups{};
  std::string tls_server_name{};
  bool insecure_skip_tls_verify{false};
  std::string certificate_authority{};
  std::string client_certificate{};
  std::string client_key{};
  bool disable_compression{false};
  std::optional<std::vector<std::string>> allowed_plugins{};  // commands or paths; absent: any plugin the kubeconfig names
  bool operator==(const ConfigFlags&) const = default;
};

// `origin` names the files for messages ("/home/a/.kube/config"). Dangling names, unsupported ways to log in and contradictions
// are errors before any request.
Result<ClientConfig> choose_config(const Kubeconfig& merged, const ConfigFlags& flags, const std::string& origin);

}  // namespace verl::kube
