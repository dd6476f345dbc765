// Finds the configuration of a client: flags, KUBECONFIG, ~/.kube/config, then the pod's own service account.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "kube/client/read_file.h"
#include "kube/protocol/client_config.h"
#include "kube/protocol/kubeconfig_choice.h"

namespace verl::kube {

// The parts of a process's environment that matter here, as values.
struct ClientEnvironment {
  std::string kubeconfig{};         // KUBECONFIG
  std::string home{};               // HOME
  std::string service_host{};       // KUBERNETES_SERVICE_HOST
  std::string service_port{};       // KUBERNETES_SERVICE_PORT
  std::string https_proxy{};        // HTTPS_PROXY or https_proxy: only to say that it is not used
  std::string service_account_folder{"/var/run/secrets/kubernetes.io/serviceaccount"};
  std::vector<std::string> all{};   // "NAME=value", given to credential plugins
};

ClientEnvironment client_environment(const char* const* environ_block);  // for mains: client_environment(environ)

Result<ClientConfig> load_client_config(const ConfigFlags& flags, const ClientEnvironment& environment, const ReadFile& read = read_local_file);

// Only the pod's service account: https://host:port, its ca.crt, its token file, its namespace.
Result<ClientConfig> in_cluster_config(const ConfigFlags& flags, const ClientEnvironment& environment, const ReadFile& read = read_local_file);

}  // namespace verl::kube
