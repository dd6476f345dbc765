// Kubeconfig files as values: parsing one, and merging several as KUBECONFIG=a:b:c asks. No file is read here.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kube/protocol/client_config.h"

namespace verl::kube {

struct KubeCluster {
  std::string name{};
  std::string server{};
  PemSource authority{};
  bool insecure_skip_verify{false};
  std::string tls_server_name{};
  std::string proxy_url{};
  bool disable_compression{false};
  bool operator==(const KubeCluster&) const = default;
};

struct KubeUser {
  std::string name{};
  PemSource certificate{};
  PemSource key{};
  std::string token{};
  std::string token_file{};
  bool has_basic_auth{false};
  std::string auth_provider{};  // its name
  std::optional<ExecPlugin> exec{};
  Impersonation impersonation{};
  bool operator==(const KubeUser&) const = default;
};

struct KubeContext {
  std::string name{};
  std::string cluster{};
  std::string user{};
  std::string name_space{};
  bool operator==(const KubeContext&) const = default;
};

struct Kubeconfig {
  std::string current_context{};
  std::vector<KubeCluster> clusters{};
  std::vector<KubeUser> users{};
  std::vector<KubeContext> contexts{};
  bool operator==(const Kubeconfig&) const = default;
};

// Relative paths in it are resolved against the folder of `path`. Errors name the field; they never quote values.
// Refused: several documents, a key given twice in one mapping, another kind or apiVersion.
Result<Kubeconfig> parse_kubeconfig(std::string_view text, const std::string& path);

// The first file that names a cluster, user, context or current-context wins, whole: nothing is mixed from two entries.
Kubeconfig merge_kubeconfigs(const std::vector<Kubeconfig>& files);

}  // namespace verl::kube
