// Everything a client needs to know to talk to one apiserver, as values: what kubeconfig files, flags or a pod's directory said.
// Files it names are read, and read again, by kube/client.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kube/protocol/server_url.h"

namespace verl::kube {

enum class InteractiveMode { Never, IfAvailable, Always };

struct ExecPlugin {
  std::string api_version{};                                  // "client.authentication.k8s.io/v1" or "/v1beta1"
  std::string command{};                                      // a path when it holds a separator, else found in PATH
  std::vector<std::string> args{};
  std::vector<std::pair<std::string, std::string>> env{};     // added to the process's, later ones win
  std::string install_hint{};
  bool provide_cluster_info{false};
  InteractiveMode interactive_mode{InteractiveMode::IfAvailable};
  bool operator==(const ExecPlugin&) const = default;
};

struct Impersonation {
  std::string user{};
  std::string uid{};
  std::vector<std::string> groups{};
  std::vector<std::pair<std::string, std::vector<std::string>>> extra{};
  bool operator==(const Impersonation&) const = default;
};

// PEM text given directly, or the file that holds it; text wins.
struct PemSource {
  std::string text{};
  std::string file{};
  bool operator==(const PemSource&) const = default;
};

struct ClientConfig {
  ServerUrl server{};
  PemSource authority{};           // both empty: the system's roots
  bool insecure_skip_verify{false};
  std::string tls_server_name{};
  bool disable_compression{false};
  PemSource certificate{};
  PemSource key{};
  std::string token{};             // used until `token_file` was read
  std::string token_file{};
  std::optional<ExecPlugin> exec{};
  Impersonation impersonation{};
  std::string name_space{"default"};
  std::string origin{};            // "context kind of /home/a/.kube/config", "the pod's service account"
  std::vector<std::string> warnings{};
  std::vector<std::string> process_environment{};  // "NAME=value", for plugins
  bool operator==(const ClientConfig&) const = default;
};

// Impersonate-User and its companions; percent-encodes the keys of `extra`.
std::vector<Header> impersonation_headers(const Impersonation& impersonation);

}  // namespace verl::kube
