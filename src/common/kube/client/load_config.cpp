#include "kube/client/load_config.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace verl::kube {
namespace {

struct Found {
  std::vector<Kubeconfig> files{};
  std::vector<std::string> paths{};
  std::vector<std::string> tried{};     // for the message when nothing is found
  std::vector<std::string> warnings{};
};

bool holds_secret(const Kubeconfig& file) {
  return std::any_of(file.users.begin(), file.users.end(), [](const KubeUser& user) { return !user.token.empty() || !user.key.text.empty(); });
}

// Adds one file. A missing one is an error only when it must exist.
Result<bool> add_file(Found& found, const std::string& path, bool required, const ReadFile& read) {
  const Result<FileText> file = read(path);
  if (!file.has_value()) {
    found.tried.push_back(path);
    if (!required && file.error().code == ErrorCode::NotFound) return false;
    return tl::unexpected<Error>(context("kubeconfig")(file.error()));
  }
  Result<Kubeconfig> parsed = parse_kubeconfig(file->text, path);
  if (!parsed.has_value()) return tl::unexpected<Error>(context("kubeconfig")(parsed.error()));
  if (file->others_can_read && holds_secret(*parsed)) {
    found.warnings.push_back(path + " holds a key or token and others can read it; run: chmod 600 " + path);
  }
  found.files.push_back(std::move(*parsed));
  found.paths.push_back(path);
  return true;
}

Result<Found> find_files(const ConfigFlags& flags, const ClientEnvironment& environment, const ReadFile& read) {
  Found found;
  if (!flags.kubeconfig.empty()) {
    const Result<bool> added = add_file(found, flags.kubeconfig, true, read);
    if (!added.has_value()) return tl::unexpected<Error>(added.error());
    return found;
  }
  std::vector<std::string> paths;
  for (const std::string_view path : split(environment.kubeconfig, ':')) {
    if (!path.empty() && std::find(paths.begin(), paths.end(), path) == paths.end()) paths.emplace_back(path);
  }
  const bool from_variable = !paths.empty();
  if (!from_variable && !environment.home.empty()) paths.push_back(environment.home + "/.kube/config");
  for (const std::string& path : paths) {
    const Result<bool> added = add_file(found, path, false, read);
    if (!added.has_value()) return tl::unexpected<Error>(added.error());
  }
  if (from_variable && found.files.empty()) {
    found.warnings.push_back("none of the files that KUBECONFIG names exists: " + join_some(paths, 5));
  }
  return found;
}

bool is_empty(const std::vector<Kubeconfig>& files) {
  return std::all_of(files.begin(), files.end(), [](const Kubeconfig& file) { return file == Kubeconfig{}; });
}

}  // namespace

ClientEnvironment client_environment(const char* const* environ_block) {
  ClientEnvironment out;
  const auto value_of = [](const std::string& entry, std::string_view name) { return entry.substr(name.size() + 1); };
  for (const char* const* entry = environ_block; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string text(*entry);
    const std::string name = text.substr(0, text.find('='));
    if (name.size() == text.size()) continue;
    if (name == "KUBECONFIG") out.kubeconfig = value_of(text, name);
    if (name == "HOME") out.home = value_of(text, name);
    if (name == "KUBERNETES_SERVICE_HOST") out.service_host = value_of(text, name);
    if (name == "KUBERNETES_SERVICE_PORT") out.service_port = value_of(text, name);
    if (name == "HTTPS_PROXY" || (name == "https_proxy" && out.https_proxy.empty())) out.https_proxy = value_of(text, name);
    out.all.push_back(text);
  }
  return out;
}

Result<ClientConfig> in_cluster_config(const ConfigFlags& flags, const ClientEnvironment& environment, const ReadFile& read) {
  if (environment.service_host.empty() || environment.service_port.empty()) {
    return failure(ErrorCode::NotFound, "not in a pod: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set");
  }
  const std::string& folder = environment.service_account_folder;
  const bool six = environment.service_host.find(':') != std::string::npos;
  const Result<ServerUrl> url = parse_server_url(
      fmt::format("https://{}{}{}:{}", six ? "[" : "", environment.service_host, six ? "]" : "", environment.service_port));
  if (!url.has_value()) return tl::unexpected<Error>(context("KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT")(url.error()));
  ClientConfig out{.server = *url, .authority = {.file = folder + "/ca.crt"}, .token_file = folder + "/token", .origin = "the pod's service account"};
  const Result<FileText> token = read(out.token_file);
  if (!token.has_value()) return tl::unexpected<Error>(context("the pod's service account")(token.error()));
  if (trim(token->text).empty()) return failure(ErrorCode::Denied, "the pod's service account: " + out.token_file + " is empty");
  if (const Result<FileText> authority = read(out.authority.file); !authority.has_value()) {
    return tl::unexpected<Error>(context("the pod's service account")(authority.error()));
  }
  const Result<FileText> name_space = read(folder + "/namespace");
  if (name_space.has_value() && !trim(name_space->text).empty()) out.name_space = trim(name_space->text);
  if (!flags.name_space.empty()) out.name_space = flags.name_space;
  out.impersonation = {.user = flags.as, .uid = flags.as_uid, .groups = flags.as_groups};
  out.disable_compression = flags.disable_compression;
  return out;
}

Result<ClientConfig> load_client_config(const ConfigFlags& flags, const ClientEnvironment& environment, const ReadFile& read) {
  Result<Found> found = find_files(flags, environment, read);
  if (!found.has_value()) return tl::unexpected<Error>(found.error());
  const bool nothing = is_empty(found->files) && flags.kubeconfig.empty() && flags.server.empty();
  if (nothing) {
    Result<ClientConfig> pod = in_cluster_config(flags, environment, read);
    if (pod.has_value()) {
      pod->warnings = std::move(found->warnings);
      return pod;
    }
    std::vector<std::string> tried = found->tried;
    tried.insert(tried.end(), found->paths.begin(), found->paths.end());
    const std::string files = tried.empty() ? "no file (neither KUBECONFIG nor HOME is set)" : join_some(tried, 5);
    return failure(ErrorCode::NotFound,
                   fmt::format("no cluster is configured: tried {} and the pod's service account ({}); give --kubeconfig or set KUBECONFIG", files,
                               pod.error().message));
  }
  const std::string origin = found->paths.empty() ? "flags" : join_some(found->paths, 3);
  Result<ClientConfig> config = choose_config(merge_kubeconfigs(found->files), flags, origin);
  if (!config.has_value()) return config;
  config->warnings = std::move(found->warnings);
  config->process_environment = environment.all;
  if (!environment.https_proxy.empty()) {
    config->warnings.push_back("HTTPS_PROXY is set, but proxies are not supported: the server is reached directly");
  }
  if (config->insecure_skip_verify) {
    config->warnings.push_back("insecure-skip-tls-verify: the server's certificate is not verified, anybody in between can read and change everything");
  }
  return config;
}

}  // namespace verl::kube
