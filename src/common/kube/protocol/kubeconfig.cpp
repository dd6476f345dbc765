#include "kube/protocol/kubeconfig.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "kube/protocol/base64.h"
#include "kube/protocol/exec_credential.h"

namespace verl::kube {
namespace {

constexpr int kDeepest = 32;
constexpr int kMostNodes = 100000;  // aliases of aliases make small files huge

// Reads one file. The first fault is kept and everything after it reads as absent, so that callers check once, at the end.
class Reader final {
 public:
  explicit Reader(std::string path) : path_(std::move(path)) {
    const size_t slash = path_.rfind('/');
    folder_ = slash == std::string::npos ? "" : path_.substr(0, slash + 1);
  }

  const std::optional<Error>& fault() const { return fault_; }
  void fail(const std::string& where, std::string_view what) {
    if (fault_.has_value()) return;
    fault_ = Error{.code = ErrorCode::Invalid, .message = fmt::format("{}: {} {}", path_, where.empty() ? "the document" : where, what)};
  }

  void check_tree(const YAML::Node& node, const std::string& where, int depth);
  YAML::Node child(const YAML::Node& node, const std::string& where, const char* key, YAML::NodeType::value type, std::string_view wanted);
  std::string text(const YAML::Node& node, const std::string& where, const char* key);
  bool flag(const YAML::Node& node, const std::string& where, const char* key);
  std::string path(const YAML::Node& node, const std::string& where, const char* key) { return resolved(text(node, where, key)); }
  PemSource pem(const YAML::Node& node, const std::string& where, const std::string& key);
  std::vector<std::string> texts(const YAML::Node& node, const std::string& where, const char* key);
  std::string resolved(const std::string& file) const { return file.empty() || file.front() == '/' ? file : folder_ + file; }

 private:
  std::string path_;
  std::string folder_{};
  int nodes_{0};
  std::optional<Error> fault_{};
};

std::string under(const std::string& where, std::string_view key) { return where.empty() ? std::string(key) : where + "." + std::string(key); }

// The YAML library takes a key that is given twice silently, and the first value wins: a trap in a file that says who we are.
void Reader::check_tree(const YAML::Node& node, const std::string& where, int depth) {
  if (fault_.has_value()) return;
  if (depth > kDeepest) return fail(where, "is nested too deeply");
  if (++nodes_ > kMostNodes) return fail("", "is too large");
  if (node.IsSequence()) {
    for (size_t i = 0; i < node.size(); ++i) check_tree(node[i], fmt::format("{}[{}]", where, i), depth + 1);
  }
  if (!node.IsMap()) return;
  std::set<std::string> keys;
  for (const auto& pair : node) {
    if (!pair.first.IsScalar()) return fail(where, "has a key that is no text");
    const std::string& key = pair.first.Scalar();
    const std::string place = under(where, escape_controls(shorten(key, 60)));
    if (!keys.insert(key).second) return fail(place, "is given twice");
    check_tree(pair.second, place, depth + 1);
  }
}

YAML::Node Reader::child(const YAML::Node& node, const std::string& where, const char* key, YAML::NodeType::value type, std::string_view wanted) {
  if (fault_.has_value() || !node.IsMap()) return YAML::Node(YAML::NodeType::Undefined);
  for (const auto& pair : node) {
    if (pair.first.Scalar() != key) continue;
    if (pair.second.IsNull()) return YAML::Node(YAML::NodeType::Undefined);
    if (pair.second.Type() == type) return pair.second;
    fail(under(where, key), fmt::format("must be {}", wanted));
  }
  return YAML::Node(YAML::NodeType::Undefined);
}

std::string Reader::text(const YAML::Node& node, const std::string& where, const char* key) {
  const YAML::Node value = child(node, where, key, YAML::NodeType::Scalar, "text");
  return value.IsDefined() && value.IsScalar() ? value.Scalar() : std::string{};
}

bool Reader::flag(const YAML::Node& node, const std::string& where, const char* key) {
  const YAML::Node value = child(node, where, key, YAML::NodeType::Scalar, "true or false");
  if (!value.IsDefined() || !value.IsScalar()) return false;
  const bool quoted = value.Tag() == "!";  // 'true' in quotes is text, as for kubectl
  if (!quoted && value.Scalar() == "true") return true;
  if (quoted || value.Scalar() != "false") fail(under(where, key), "must be true or false, without quotes");
  return false;
}

PemSource Reader::pem(const YAML::Node& node, const std::string& where, const std::string& key) {
  PemSource out{.file = path(node, where, key.c_str())};
  const std::string data_key = key + "-data";
  const std::string data = text(node, where, data_key.c_str());
  if (data.empty()) return out;
  const std::optional<std::string> decoded = decode_base64(data);
  if (!decoded.has_value()) fail(under(where, data_key), "is not base64");
  out.text = decoded.value_or("");
  out.file.clear();
  return out;
}

std::vector<std::string> Reader::texts(const YAML::Node& node, const std::string& where, const char* key) {
  const YAML::Node list = child(node, where, key, YAML::NodeType::Sequence, "a list");
  std::vector<std::string> out;
  if (!list.IsDefined()) return out;
  for (const auto& entry : list) {
    if (!entry.IsScalar()) {
      fail(under(where, key), "must be a list of texts");
      return out;
    }
    out.push_back(entry.Scalar());
  }
  return out;
}

KubeCluster cluster_of(Reader& reader, const YAML::Node& node, const std::string& where) {
  KubeCluster out{.server = reader.text(node, where, "server"), .authority = reader.pem(node, where, "certificate-authority")};
  out.insecure_skip_verify = reader.flag(node, where, "insecure-skip-tls-verify");
  out.tls_server_name = reader.text(node, where, "tls-server-name");
  out.proxy_url = reader.text(node, where, "proxy-url");
  out.disable_compression = reader.flag(node, where, "disable-compression");
  return out;
}

ExecPlugin exec_of(Reader& reader, const YAML::Node& node, const std::string& where) {
  ExecPlugin out{.api_version = reader.text(node, where, "apiVersion"),
                 .command = reader.text(node, where, "command"),
                 .args = reader.texts(node, where, "args")};
  out.install_hint = reader.text(node, where, "installHint");
  out.provide_cluster_info = reader.flag(node, where, "provideClusterInfo");
  if (!is_exec_api_version(out.api_version)) {
    reader.fail(where + ".apiVersion", "must be client.authentication.k8s.io/v1 or client.authentication.k8s.io/v1beta1");
  }
  if (out.command.empty()) reader.fail(where + ".command", "is missing");
  // A path is meant relative to the file; a bare name is searched in PATH.
  if (out.command.find('/') != std::string::npos) out.command = reader.resolved(out.command);
  const std::string mode = reader.text(node, where, "interactiveMode");
  if (mode == "Never") {
    out.interactive_mode = InteractiveMode::Never;
  } else if (mode == "Always") {
    out.interactive_mode = InteractiveMode::Always;
  } else if (!mode.empty() && mode != "IfAvailable") {
    reader.fail(where + ".interactiveMode", "must be Never, IfAvailable or Always");
  }
  const YAML::Node env = reader.child(node, where, "env", YAML::NodeType::Sequence, "a list");
  for (size_t i = 0; env.IsDefined() && i < env.size(); ++i) {
    const std::string place = fmt::format("{}.env[{}]", where, i);
    const std::string name = reader.text(env[i], place, "name");
    if (name.empty() || name.find('=') != std::string::npos) reader.fail(place + ".name", "is no variable name");
    out.env.emplace_back(name, reader.text(env[i], place, "value"));
  }
  return out;
}

KubeUser user_of(Reader& reader, const YAML::Node& node, const std::string& where) {
  KubeUser out{.certificate = reader.pem(node, where, "client-certificate"), .key = reader.pem(node, where, "client-key")};
  out.token = trim(reader.text(node, where, "token"));
  out.token_file = reader.path(node, where, "tokenFile");
  out.has_basic_auth = !reader.text(node, where, "username").empty() || !reader.text(node, where, "password").empty();
  out.impersonation = {.user = reader.text(node, where, "as"), .uid = reader.text(node, where, "as-uid"), .groups = reader.texts(node, where, "as-groups")};
  const YAML::Node extra = reader.child(node, where, "as-user-extra", YAML::NodeType::Map, "a mapping");
  if (extra.IsDefined()) {
    for (const auto& pair : extra) {
      const std::string key = pair.first.Scalar();
      out.impersonation.extra.emplace_back(key, reader.texts(extra, where + ".as-user-extra", key.c_str()));
    }
  }
  const YAML::Node provider = reader.child(node, where, "auth-provider", YAML::NodeType::Map, "a mapping");
  if (provider.IsDefined()) {
    out.auth_provider = reader.text(provider, where + ".auth-provider", "name");
    if (out.auth_provider.empty()) out.auth_provider = "(unnamed)";
  }
  const YAML::Node exec = reader.child(node, where, "exec", YAML::NodeType::Map, "a mapping");
  if (exec.IsDefined()) out.exec = exec_of(reader, exec, where + ".exec");
  return out;
}

KubeContext context_of(Reader& reader, const YAML::Node& node, const std::string& where) {
  return KubeContext{.cluster = reader.text(node, where, "cluster"),
                     .user = reader.text(node, where, "user"),
                     .name_space = reader.text(node, where, "namespace")};
}

// A list of {name: ..., <key>: {...}}.
template <class Entry>
std::vector<Entry> entries_of(Reader& reader, const YAML::Node& root, const char* list_key, const char* key,
                              Entry (*read)(Reader&, const YAML::Node&, const std::string&)) {
  const YAML::Node list = reader.child(root, "", list_key, YAML::NodeType::Sequence, "a list");
  std::vector<Entry> out;
  for (size_t i = 0; list.IsDefined() && i < list.size(); ++i) {
    const std::string where = fmt::format("{}[{}]", list_key, i);
    const YAML::Node entry = list[i];
    if (!entry.IsMap()) {
      reader.fail(where, "must be a mapping");
      return out;
    }
    const YAML::Node inner = reader.child(entry, where, key, YAML::NodeType::Map, "a mapping");
    Entry one = read(reader, inner.IsDefined() ? inner : YAML::Node(YAML::NodeType::Map), under(where, key));
    one.name = reader.text(entry, where, "name");
    if (one.name.empty()) reader.fail(where + ".name", "is missing");
    if (std::any_of(out.begin(), out.end(), [&](const Entry& other) { return other.name == one.name; })) {
      reader.fail(where + ".name", "is given twice");
    }
    out.push_back(std::move(one));
  }
  return out;
}

Result<Kubeconfig> read_document(const YAML::Node& root, const std::string& path) {
  Reader reader(path);
  if (root.IsNull() || !root.IsDefined()) return Kubeconfig{};
  if (!root.IsMap()) return failure(ErrorCode::Invalid, path + ": a kubeconfig must be a mapping");
  reader.check_tree(root, "", 0);
  const std::string kind = reader.text(root, "", "kind");
  const std::string version = reader.text(root, "", "apiVersion");
  if (!kind.empty() && kind != "Config") reader.fail("kind", "must be Config; this is no kubeconfig");
  if (!version.empty() && version != "v1") reader.fail("apiVersion", "must be v1");
  Kubeconfig out{.current_context = reader.text(root, "", "current-context")};
  out.clusters = entries_of<KubeCluster>(reader, root, "clusters", "cluster", cluster_of);
  out.users = entries_of<KubeUser>(reader, root, "users", "user", user_of);
  out.contexts = entries_of<KubeContext>(reader, root, "contexts", "context", context_of);
  if (reader.fault().has_value()) return tl::unexpected<Error>(*reader.fault());
  return out;
}

template <class Entry>
void add_new(std::vector<Entry>& into, const std::vector<Entry>& from) {
  for (const Entry& entry : from) {
    const bool known = std::any_of(into.begin(), into.end(), [&](const Entry& other) { return other.name == entry.name; });
    if (!known) into.push_back(entry);
  }
}

}  // namespace

Result<Kubeconfig> parse_kubeconfig(std::string_view text, const std::string& path) {
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(std::string(text));
    if (documents.empty()) return Kubeconfig{};
    if (documents.size() > 1) return failure(ErrorCode::Invalid, path + ": a kubeconfig is one YAML document, this has " + std::to_string(documents.size()));
    return read_document(documents.front(), path);
  } catch (const YAML::Exception& fault) {
    // Only the place: the library's own sentence may quote the line, which may hold a key.
    return failure(ErrorCode::Invalid, fmt::format("{}: line {} is not YAML that can be read", path, fault.mark.line + 1));
  }
}

Kubeconfig merge_kubeconfigs(const std::vector<Kubeconfig>& files) {
  Kubeconfig out;
  for (const Kubeconfig& file : files) {
    if (out.current_context.empty()) out.current_context = file.current_context;
    add_new(out.clusters, file.clusters);
    add_new(out.users, file.users);
    add_new(out.contexts, file.contexts);
  }
  return out;
}

}  // namespace verl::kube
