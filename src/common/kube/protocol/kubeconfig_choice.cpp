#include "kube/protocol/kubeconfig_choice.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace verl::kube {
namespace {

tl::unexpected<Error> invalid(std::string message) { return failure(ErrorCode::Invalid, std::move(message)); }

template <class Entry>
const Entry* find_named(const std::vector<Entry>& entries, const std::string& name) {
  const auto found = std::find_if(entries.begin(), entries.end(), [&](const Entry& entry) { return entry.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

template <class Entry>
std::string names_of(const std::vector<Entry>& entries) {
  std::vector<std::string> names;
  for (const Entry& entry : entries) names.push_back(escape_controls(shorten(entry.name, 80)));
  return names.empty() ? "there is none" : "there is " + join_some(names, 5);
}

std::string first_of(const std::string& flag, const std::string& otherwise) { return flag.empty() ? otherwise : flag; }

void override_file(PemSource& source, const std::string& flag) {
  if (!flag.empty()) source = PemSource{.file = flag};
}

Result<KubeContext> chosen_context(const Kubeconfig& merged, const ConfigFlags& flags, const std::string& origin) {
  const std::string name = first_of(flags.context, merged.current_context);
  KubeContext out;
  if (!name.empty()) {
    const KubeContext* found = find_named(merged.contexts, name);
    if (found == nullptr) return invalid(fmt::format("{}: context \"{}\" does not exist; {}", origin, escape_controls(name), names_of(merged.contexts)));
    out = *found;
  } else if (flags.server.empty() && flags.cluster.empty()) {
    return invalid(fmt::format("{}: no current-context is set and --context is not given; {}", origin, names_of(merged.contexts)));
  }
  out.cluster = first_of(flags.cluster, out.cluster);
  out.user = first_of(flags.user, out.user);
  out.name_space = first_of(flags.name_space, out.name_space);
  return out;
}

Result<bool> refuse_unsupported(const KubeUser& user, const KubeCluster& cluster, const std::string& origin) {
  const std::string who = fmt::format("{}: user \"{}\"", origin, escape_controls(user.name));
  if (!cluster.proxy_url.empty()) {
    return invalid(fmt::format("{}: cluster \"{}\" has proxy-url; proxies are not supported, reach the server directly", origin,
                               escape_controls(cluster.name)));
  }
  if (user.has_basic_auth) {
    return invalid(who + " has username or password; apiservers have not taken basic authentication since 1.19, use a token or a certificate");
  }
  if (!user.auth_provider.empty()) {
    return invalid(fmt::format("{} has auth-provider \"{}\"; these were removed from Kubernetes in 1.26, use an exec credential plugin", who,
                               escape_controls(user.auth_provider)));
  }
  return true;
}

Result<bool> check_plugin(const KubeUser& user, const ConfigFlags& flags, const std::string& origin) {
  const ExecPlugin& exec = *user.exec;
  const std::string who = fmt::format("{}: user \"{}\": credential plugin {}", origin, escape_controls(user.name), escape_controls(exec.command));
  if (exec.interactive_mode == InteractiveMode::Always) {
    return invalid(who + " has interactiveMode Always, and there is no terminal for it here; log in with it first and use IfAvailable or Never");
  }
  if (!flags.allowed_plugins.has_value()) return true;
  const auto& allowed = *flags.allowed_plugins;
  if (std::find(allowed.begin(), allowed.end(), exec.command) != allowed.end()) return true;
  return failure(ErrorCode::Denied, who + " is not on the list of allowed plugins");
}

// A token or certificate silences the plugin, as for kubectl; token and certificate may be meant together.
void take_credentials(ClientConfig& out, const KubeUser& user, const ConfigFlags& flags) {
  out.certificate = user.certificate;
  out.key = user.key;
  override_file(out.certificate, flags.client_certificate);
  override_file(out.key, flags.client_key);
  out.token = first_of(flags.token, user.token);
  if (flags.token.empty()) out.token_file = user.token_file;
  const bool has_other = !out.token.empty() || !out.token_file.empty() || !out.certificate.text.empty() || !out.certificate.file.empty();
  if (!has_other) out.exec = user.exec;
  out.impersonation = user.impersonation;
  if (!flags.as.empty()) out.impersonation.user = flags.as;
  if (!flags.as_uid.empty()) out.impersonation.uid = flags.as_uid;
  if (!flags.as_groups.empty()) out.impersonation.groups = flags.as_groups;
}

bool is_given(const PemSource& source) { return !source.text.empty() || !source.file.empty(); }

}  // namespace

Result<ClientConfig> choose_config(const Kubeconfig& merged, const ConfigFlags& flags, const std::string& origin) {
  const Result<KubeContext> chosen = chosen_context(merged, flags, origin);
  if (!chosen.has_value()) return tl::unexpected<Error>(chosen.error());
  KubeCluster cluster;
  if (!chosen->cluster.empty() || flags.server.empty()) {
    const KubeCluster* found = find_named(merged.clusters, chosen->cluster);
    if (found == nullptr) {
      return invalid(fmt::format("{}: context \"{}\" names cluster \"{}\", which does not exist; {}", origin, escape_controls(chosen->name),
                                 escape_controls(chosen->cluster), names_of(merged.clusters)));
    }
    cluster = *found;
  }
  KubeUser user;
  if (!chosen->user.empty()) {
    const KubeUser* found = find_named(merged.users, chosen->user);
    if (found == nullptr) {
      return invalid(fmt::format("{}: context \"{}\" names user \"{}\", which does not exist; {}", origin, escape_controls(chosen->name),
                                 escape_controls(chosen->user), names_of(merged.users)));
    }
    user = *found;
  }
  if (const auto ok = refuse_unsupported(user, cluster, origin); !ok.has_value()) return tl::unexpected<Error>(ok.error());

  const std::string server = first_of(flags.server, cluster.server);
  if (server.empty()) return invalid(fmt::format("{}: cluster \"{}\" has no server", origin, escape_controls(cluster.name)));
  const Result<ServerUrl> url = parse_server_url(server);
  if (!url.has_value()) return tl::unexpected<Error>(context(origin)(url.error()));

  ClientConfig out{.server = *url, .authority = cluster.authority};
  out.insecure_skip_verify = cluster.insecure_skip_verify || flags.insecure_skip_tls_verify;
  // The flag drops the file's authority, as for kubectl; in one place both together are a contradiction.
  if (flags.insecure_skip_tls_verify) out.authority = PemSource{};
  override_file(out.authority, flags.certificate_authority);
  if (out.insecure_skip_verify && is_given(out.authority)) {
    return invalid(fmt::format("{}: cluster \"{}\" has insecure-skip-tls-verify and a certificate authority, which exclude each other; remove one of "
                               "them", origin, escape_controls(cluster.name)));
  }
  out.tls_server_name = first_of(flags.tls_server_name, cluster.tls_server_name);
  out.disable_compression = cluster.disable_compression || flags.disable_compression;
  take_credentials(out, user, flags);
  if (is_given(out.certificate) != is_given(out.key)) {
    return invalid(fmt::format("{}: user \"{}\" has {}", origin, escape_controls(user.name),
                               is_given(out.key) ? "client-key without client-certificate" : "client-certificate without client-key"));
  }
  if (out.exec.has_value()) {
    if (const auto ok = check_plugin(user, flags, origin); !ok.has_value()) return tl::unexpected<Error>(ok.error());
  }
  if (out.impersonation.user.empty() && (!out.impersonation.uid.empty() || !out.impersonation.groups.empty() || !out.impersonation.extra.empty())) {
    return invalid(fmt::format("{}: user \"{}\" impersonates a group, uid or extra without a user (as)", origin, escape_controls(user.name)));
  }
  if (!chosen->name_space.empty()) out.name_space = chosen->name_space;
  out.origin = chosen->name.empty() ? origin : fmt::format("context {} of {}", chosen->name, origin);
  return out;
}

}  // namespace verl::kube
