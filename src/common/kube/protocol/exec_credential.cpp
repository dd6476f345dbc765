#include "kube/protocol/exec_credential.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "kube/protocol/base64.h"

namespace verl::kube {
namespace {

using nlohmann::json;

void add_cluster(const ClientConfig& config, json& into) {
  into["server"] = to_string(config.server);
  if (!config.tls_server_name.empty()) into["tls-server-name"] = config.tls_server_name;
  if (!config.authority.text.empty()) into["certificate-authority-data"] = encode_base64(config.authority.text);
  if (config.insecure_skip_verify) into["insecure-skip-tls-verify"] = true;
}

json exec_info(const ClientConfig& config) {
  json spec = {{"interactive", false}};  // there is never a terminal for a plugin to ask at
  if (config.exec->provide_cluster_info) add_cluster(config, spec["cluster"]);
  return {{"kind", "ExecCredential"}, {"apiVersion", config.exec->api_version}, {"spec", spec}};
}

void set_variable(std::vector<std::string>& environment, const std::string& name, const std::string& value) {
  std::erase_if(environment, [&](const std::string& entry) { return entry.starts_with(name + "="); });
  environment.push_back(name + "=" + value);
}

// "" when absent; an Error for another type.
Result<std::string> text_field(const json& status, const char* name) {
  const auto field = status.find(name);
  if (field == status.end() || field->is_null()) return std::string{};
  if (!field->is_string()) return failure(ErrorCode::Invalid, fmt::format("its answer's status.{} is no string", name));
  return field->get<std::string>();
}

}  // namespace

bool is_exec_api_version(std::string_view api_version) {
  return api_version == "client.authentication.k8s.io/v1" || api_version == "client.authentication.k8s.io/v1beta1";
}

std::vector<std::string> plugin_environment(const ClientConfig& config) {
  std::vector<std::string> out = config.process_environment;
  for (const auto& [name, value] : config.exec->env) set_variable(out, name, value);
  set_variable(out, "KUBERNETES_EXEC_INFO", exec_info(config).dump(-1, ' ', false, json::error_handler_t::replace));
  return out;
}

Result<ExecCredential> parse_exec_credential(std::string_view text, std::string_view wanted_api_version) {
  const json answer = json::parse(text, nullptr, false);
  if (!answer.is_object()) return failure(ErrorCode::Invalid, "its output is not a JSON object; it must print one ExecCredential");
  const std::string kind = text_field(answer, "kind").value_or("");
  const std::string version = text_field(answer, "apiVersion").value_or("");
  if (kind != "ExecCredential" || version != wanted_api_version) {
    return failure(ErrorCode::Invalid, fmt::format("it answered with kind \"{}\" of \"{}\", wanted ExecCredential of {}: the kubeconfig's apiVersion and "
                                                   "the plugin's must be the same",
                                                   escape_controls(shorten(kind, 60)), escape_controls(shorten(version, 60)), wanted_api_version));
  }
  const auto status = answer.find("status");
  if (status == answer.end() || !status->is_object()) return failure(ErrorCode::Invalid, "its answer has no status; it gave no credential");
  ExecCredential out;
  for (const auto& [name, into] : {std::pair<const char*, std::string*>{"token", &out.token},
                                   {"clientCertificateData", &out.certificate_pem},
                                   {"clientKeyData", &out.key_pem}}) {
    Result<std::string> value = text_field(*status, name);
    if (!value.has_value()) return tl::unexpected<Error>(value.error());
    *into = std::move(*value);
  }
  if (out.certificate_pem.empty() != out.key_pem.empty()) {
    return failure(ErrorCode::Invalid, out.key_pem.empty() ? "its answer has a client certificate without the key"
                                                           : "its answer has a client key without the certificate");
  }
  if (out.token.empty() && out.certificate_pem.empty()) return failure(ErrorCode::Invalid, "its answer has neither a token nor a client certificate");
  const Result<std::string> expires = text_field(*status, "expirationTimestamp");
  if (!expires.has_value()) return tl::unexpected<Error>(expires.error());
  if (!expires->empty()) {
    out.expires = parse_rfc3339(*expires);
    if (!out.expires.has_value()) return failure(ErrorCode::Invalid, "its answer's status.expirationTimestamp is no RFC 3339 time");
  }
  return out;
}

bool is_usable(const ExecCredential& credential, Timestamp now) { return !credential.expires.has_value() || now < *credential.expires; }

}  // namespace verl::kube
