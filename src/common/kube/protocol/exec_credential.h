// What is said to a credential plugin and what its answer is worth: pure functions over text.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "kube/protocol/client_config.h"

namespace verl::kube {

struct ExecCredential {
  std::string token{};
  std::string certificate_pem{};
  std::string key_pem{};
  std::optional<Timestamp> expires{};
  bool operator==(const ExecCredential&) const = default;
};

bool is_exec_api_version(std::string_view api_version);  // v1 and v1beta1 of client.authentication.k8s.io

// The process's environment, the plugin's own, and KUBERNETES_EXEC_INFO; of a name given twice the later value stays.
std::vector<std::string> plugin_environment(const ClientConfig& config);

// Four distinct errors: no ExecCredential of the wanted version at all; no status; neither token nor certificate; a certificate without its
// key (or a key without its certificate).
Result<ExecCredential> parse_exec_credential(std::string_view text, std::string_view wanted_api_version);

bool is_usable(const ExecCredential& credential, Timestamp now);  // not expired

}  // namespace verl::kube
