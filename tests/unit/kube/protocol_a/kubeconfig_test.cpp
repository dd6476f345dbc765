#include "kube/protocol/kubeconfig.h"

#include <gtest/gtest.h>

#include <map>

#include "kube/client/load_config.h"

namespace verl::kube {
namespace {

using Texts = std::map<std::string, std::string>;

ReadFile reader_of(Texts files, std::vector<std::string>* reads = nullptr) {
  return [files = std::move(files), reads](const std::string& path) -> Result<FileText> {
    if (reads != nullptr) reads->push_back(path);
    const auto found = files.find(path);
    if (found == files.end()) return failure(ErrorCode::NotFound, "file " + path + " cannot be read: No such file or directory");
    return FileText{.text = found->second};
  };
}

// One cluster, user and context of the same name.
std::string config_named(const std::string& name, const std::string& user = "token: t", const std::string& cluster = "", const std::string& current = "") {
  return "current-context: '" + current + "'\nclusters: [{name: " + name + ", cluster: {server: 'https://" + name + ":6443'" + cluster +
         "}}]\nusers: [{name: " + name + ", user: {" + user + "}}]\ncontexts: [{name: " + name + ", context: {cluster: " + name + ", user: " + name + "}}]\n";
}

Result<ClientConfig> load(const std::string& text, ConfigFlags flags = {}) {
  flags.kubeconfig = "/d/k";
  return load_client_config(flags, {}, reader_of({{"/d/k", text}}));
}

std::string error_of_loading(const std::string& text, const ConfigFlags& flags = {}) {
  const auto config = load(text, flags);
  return config.has_value() ? "no error" : config.error().message;
}

TEST(Kubeconfig, K1_TheFileOfTheFlagMustExist) {
  const auto config = load_client_config({.kubeconfig = "/missing"}, {.kubeconfig = "/a", .home = "/h"}, reader_of({{"/a", config_named("a", "", "", "a")}}));
  ASSERT_FALSE(config.has_value());
  EXPECT_EQ(config.error().message, "kubeconfig: file /missing cannot be read: No such file or directory");
}

TEST(Kubeconfig, K2_MissingFilesOfTheListAreSkippedAndDuplicatesReadOnce) {
  std::vector<std::string> reads;
  const auto config = load_client_config({}, {.kubeconfig = "/a:/b::/a:/c"}, reader_of({{"/a", config_named("a", "token: t", "", "a")}, {"/c", config_named("c")}}, &reads));
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(config->server.host, "a");
  EXPECT_TRUE(config->warnings.empty());
  EXPECT_EQ(reads, (std::vector<std::string>{"/a", "/b", "/c"}));
}

TEST(Kubeconfig, K2_AWarningTellsWhenAllAreMissing) {
  const auto config = load_client_config({.server = "https://s"}, {.kubeconfig = "/a:/b"}, reader_of({}));
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(config->warnings, (std::vector<std::string>{"none of the files that KUBECONFIG names exists: /a, /b"}));
}

TEST(Kubeconfig, K3_TheFirstFileThatNamesAUserWinsWhole) {
  const auto first = parse_kubeconfig("users: [{name: red, user: {token: one}}]", "/a");
  const auto second = parse_kubeconfig("users: [{name: red, user: {tokenFile: /t, as: jane}}, {name: blue, user: {token: b}}]", "/b");
  ASSERT_TRUE(first.has_value() && second.has_value());
  const Kubeconfig merged = merge_kubeconfigs({*first, *second});
  EXPECT_EQ(merged.users, (std::vector<KubeUser>{{.name = "red", .token = "one"}, {.name = "blue", .token = "b"}}));
}

TEST(Kubeconfig, K4_TheFirstCurrentContextThatIsSetWins) {
  EXPECT_EQ(merge_kubeconfigs({{}, {.current_context = "b"}, {.current_context = "c"}}).current_context, "b");
}

TEST(Kubeconfig, K5_RelativePathsBelongToTheFileThatNamesThem) {
  const std::string exec = "exec: {apiVersion: client.authentication.k8s.io/v1, command: ";
  const auto config = load(config_named("a", "client-certificate: c.crt, client-key: /abs/k.key, tokenFile: sub/token", ", certificate-authority: ../ca.crt", "a"));
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(config->authority.file, "/d/../ca.crt");
  EXPECT_EQ(config->certificate.file, "/d/c.crt");
  EXPECT_EQ(config->key.file, "/abs/k.key");
  EXPECT_EQ(config->token_file, "/d/sub/token");
  EXPECT_EQ(load(config_named("a", exec + "bin/login}", "", "a"))->exec->command, "/d/bin/login");
  EXPECT_EQ(load(config_named("a", exec + "login}", "", "a"))->exec->command, "login");
}

TEST(Kubeconfig, K6_TheHomeFileThenThePodThenAnErrorThatListsWhatWasTried) {
  const Texts home = {{"/h/.kube/config", config_named("a", "token: t", "", "a")}};
  const Texts pod = {{"/sa/token", "t"}, {"/sa/ca.crt", "PEM"}};
  ClientEnvironment environment{.home = "/h", .service_host = "10.0.0.1", .service_port = "443", .service_account_folder = "/sa"};
  EXPECT_EQ(load_client_config({}, environment, reader_of(home))->origin, "context a of /h/.kube/config");
  EXPECT_EQ(load_client_config({}, environment, reader_of(pod))->origin, "the pod's service account");
  environment.service_host.clear();
  EXPECT_EQ(load_client_config({}, environment, reader_of({})).error(),
            (Error{.code = ErrorCode::NotFound,
                   .message = "no cluster is configured: tried /h/.kube/config and the pod's service account (not in a pod: KUBERNETES_SERVICE_HOST and "
                              "KUBERNETES_SERVICE_PORT are not set); give --kubeconfig or set KUBECONFIG"}));
}

TEST(Kubeconfig, K7_InlineTextWinsOverAFile) {
  const auto config = load(config_named("a", "client-certificate: c, client-certificate-data: UEVN, client-key: k, client-key-data: S0VZ",
                                        ", certificate-authority: ca, certificate-authority-data: Q0E=", "a"));
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(config->authority, PemSource{.text = "CA"});
  EXPECT_EQ(config->certificate, PemSource{.text = "PEM"});
  EXPECT_EQ(config->key, PemSource{.text = "KEY"});
}

TEST(Kubeconfig, K8_TokenAndTokenFileAreBothKept) {
  const auto config = load(config_named("a", "token: t, tokenFile: /f", "", "a"));
  ASSERT_TRUE(config.has_value());
  EXPECT_EQ(config->token, "t");
  EXPECT_EQ(config->token_file, "/f");
}

TEST(Kubeconfig, K10_DanglingNamesAreErrors) {
  EXPECT_EQ(error_of_loading(config_named("a", "", "", "b")), "/d/k: context \"b\" does not exist; there is a");
  EXPECT_EQ(error_of_loading(config_named("a"), {.context = "c"}), "/d/k: context \"c\" does not exist; there is a");
  EXPECT_EQ(error_of_loading(config_named("a", "", "", "a"), {.cluster = "x"}), "/d/k: context \"a\" names cluster \"x\", which does not exist; there is a");
  EXPECT_EQ(error_of_loading(config_named("a", "", "", "a"), {.user = "x"}), "/d/k: context \"a\" names user \"x\", which does not exist; there is a");
  EXPECT_EQ(error_of_loading(config_named("a")), "/d/k: no current-context is set and --context is not given; there is a");
  EXPECT_EQ(error_of_loading("clusters: [{name: a}]\ncontexts: [{name: a, context: {cluster: a}}]\ncurrent-context: a"), "/d/k: cluster \"a\" has no server");
}

TEST(Kubeconfig, K11_TheNamespaceOfTheFlagThenTheContextThenDefault) {
  const std::string text = "clusters: [{name: a, cluster: {server: 'https://a'}}]\ncurrent-context: a\ncontexts: [{name: a, context: {cluster: a, namespace: rl}}]";
  EXPECT_EQ(load(text, {.name_space = "flag"})->name_space, "flag");
  EXPECT_EQ(load(text)->name_space, "rl");
  EXPECT_EQ(load(config_named("a", "", "", "a"))->name_space, "default");
}

TEST(Kubeconfig, K12_QuotedScalarsStayText) {
  const auto parsed = parse_kubeconfig("users: [{name: '1', user: {token: \"0123\"}}, {name: n, user: {token: 'true'}}, {name: plain, user: {token: 0123}}]", "/k");
  ASSERT_TRUE(parsed.has_value()) << parsed.error().message;
  EXPECT_EQ(parsed->users.at(0), (KubeUser{.name = "1", .token = "0123"}));
  EXPECT_EQ(parsed->users.at(1).token, "true");
  EXPECT_EQ(parsed->users.at(2).token, "0123");
  EXPECT_EQ(error_of_loading(config_named("a", "", ", insecure-skip-tls-verify: 'true'", "a")),
            "kubeconfig: /d/k: clusters[0].cluster.insecure-skip-tls-verify must be true or false, without quotes");
}

TEST(Kubeconfig, K12_AnchorsAreFollowed) {
  const auto parsed = parse_kubeconfig("x: &u {token: t}\nusers: [{name: a, user: *u}, {name: b, user: *u}]", "/k");
  ASSERT_TRUE(parsed.has_value()) << parsed.error().message;
  EXPECT_EQ(parsed->users.at(1).token, "t");
}

TEST(Kubeconfig, K12_WhatIsAmbiguousIsRefusedWithItsPlace) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"users: [{name: a, user: {token: x, token: y}}]", "/k: users[0].user.token is given twice"},
      {"current-context: a\ncurrent-context: b", "/k: current-context is given twice"},
      {"users: [{name: a, user: {}}, {name: a, user: {}}]", "/k: users[1].name is given twice"},
      {"{}\n---\n{}", "/k: a kubeconfig is one YAML document, this has 2"},
      {"users: 7", "/k: users must be a list"},
      {"users: [7]", "/k: users[0] must be a mapping"},
      {"users: [{user: {}}]", "/k: users[0].name is missing"},
      {"users: [{name: a, user: {token: [x]}}]", "/k: users[0].user.token must be text"},
      {"users: [{name: a, user: {client-key-data: '!'}}]", "/k: users[0].user.client-key-data is not base64"},
      {"[1]", "/k: a kubeconfig must be a mapping"},
      {"kind: Pod", "/k: kind must be Config; this is no kubeconfig"},
      {"apiVersion: v2", "/k: apiVersion must be v1"},
      {"a: [", "/k: line 1 is not YAML that can be read"},
      {"{[1]: 2}", "/k: the document has a key that is no text"},
      {"users: [{name: a, user: {exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: c}}}]",
       "/k: users[0].user.exec.apiVersion must be client.authentication.k8s.io/v1 or client.authentication.k8s.io/v1beta1"},
      {"users: [{name: a, user: {exec: {apiVersion: client.authentication.k8s.io/v1}}}]", "/k: users[0].user.exec.command is missing"},
  };
  for (const auto& one : cases) {
    const auto parsed = parse_kubeconfig(one.first, "/k");
    ASSERT_FALSE(parsed.has_value()) << one.first;
    EXPECT_EQ(parsed.error(), (Error{.code = ErrorCode::Invalid, .message = one.second}));
  }
  EXPECT_EQ(*parse_kubeconfig("", "/k"), Kubeconfig{});
}

TEST(Kubeconfig, K12_AliasesOfAliasesAndDeepNestingEnd) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 10; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int k = 0; k < 10; ++k) bomb += (k > 0 ? ", " : "") + before;
    bomb += "]\n";
  }
  EXPECT_EQ(parse_kubeconfig(bomb, "/k").error().message, "/k: the document is too large");
  EXPECT_FALSE(parse_kubeconfig("a: " + std::string(200, '[') + std::string(200, ']'), "/k").has_value());
  EXPECT_FALSE(parse_kubeconfig(std::string(100000, '['), "/k").has_value());
}

TEST(Kubeconfig, K13_AFileWithAKeyThatOthersCanReadIsWarnedOf) {
  const auto read_as = [](const std::string& user, bool others) {
    const ReadFile read = [user, others](const std::string&) -> Result<FileText> { return FileText{.text = config_named("a", user, "", "a"), .others_can_read = others}; };
    return load_client_config({.kubeconfig = "/d/k"}, {}, read)->warnings;
  };
  EXPECT_EQ(read_as("token: t", true), (std::vector<std::string>{"/d/k holds a key or token and others can read it; run: chmod 600 /d/k"}));
  EXPECT_TRUE(read_as("token: t", false).empty());
  EXPECT_TRUE(read_as("tokenFile: /t", true).empty());
}

TEST(Kubeconfig, H9_SkippingVerificationWithAnAuthorityIsAContradiction) {
  EXPECT_EQ(error_of_loading(config_named("a", "", ", insecure-skip-tls-verify: true, certificate-authority: x", "a")),
            "/d/k: cluster \"a\" has insecure-skip-tls-verify and a certificate authority, which exclude each other; remove one of them");
  const auto flagged = load(config_named("a", "", ", certificate-authority: x", "a"), {.insecure_skip_tls_verify = true});
  ASSERT_TRUE(flagged.has_value());
  EXPECT_EQ(flagged->authority, PemSource{});
}

TEST(Kubeconfig, T9_H10_WhatIsNotSupportedIsSaid) {
  EXPECT_EQ(error_of_loading(config_named("a", "", ", proxy-url: 'http://p'", "a")),
            "/d/k: cluster \"a\" has proxy-url; proxies are not supported, reach the server directly");
  EXPECT_NE(error_of_loading(config_named("a", "username: u, password: p", "", "a")).find("basic authentication"), std::string::npos);
  EXPECT_NE(error_of_loading(config_named("a", "auth-provider: {name: oidc}", "", "a")).find("auth-provider \"oidc\""), std::string::npos);
  EXPECT_NE(error_of_loading(config_named("a", "as-groups: [g]", "", "a")).find("without a user"), std::string::npos);
  EXPECT_NE(error_of_loading(config_named("a", "client-key: k", "", "a")).find("client-key without client-certificate"), std::string::npos);
  const auto proxied = load_client_config({.kubeconfig = "/k"}, {.https_proxy = "http://p"}, reader_of({{"/k", config_named("a", "", "", "a")}}));
  EXPECT_EQ(proxied->warnings, (std::vector<std::string>{"HTTPS_PROXY is set, but proxies are not supported: the server is reached directly"}));
}

TEST(Kubeconfig, C7_ImpersonationComesFromTheUserAndTheFlags) {
  const auto config = load(config_named("a", "token: t, as: jane, as-uid: u, as-groups: [g], as-user-extra: {k: [v, w]}", "", "a"), {.as = "joe"});
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(config->impersonation, (Impersonation{.user = "joe", .uid = "u", .groups = {"g"}, .extra = {{"k", {"v", "w"}}}}));
}

TEST(Kubeconfig, X8_APluginThatNeedsATerminalIsRefused) {
  const std::string exec = "exec: {apiVersion: client.authentication.k8s.io/v1, command: login, interactiveMode: ";
  EXPECT_NE(error_of_loading(config_named("a", exec + "Always}", "", "a")).find("no terminal"), std::string::npos);
  EXPECT_TRUE(load(config_named("a", exec + "IfAvailable}", "", "a")).has_value());
  EXPECT_NE(error_of_loading(config_named("a", exec + "Sometimes}", "", "a")).find("must be Never, IfAvailable or Always"), std::string::npos);
}

TEST(Kubeconfig, X9_ATokenOrCertificateSilencesThePlugin) {
  const std::string exec = ", exec: {apiVersion: client.authentication.k8s.io/v1, command: login}";
  EXPECT_FALSE(load(config_named("a", "token: t" + exec, "", "a"))->exec.has_value());
  EXPECT_FALSE(load(config_named("a", "client-certificate: c, client-key: k" + exec, "", "a"))->exec.has_value());
  EXPECT_FALSE(load(config_named("a", "as: ''" + exec, "", "a"), {.token = "t"})->exec.has_value());
  EXPECT_TRUE(load(config_named("a", "as: ''" + exec, "", "a"))->exec.has_value());
}

TEST(Kubeconfig, X12_OnlyAllowedPluginsRun) {
  const std::string text = config_named("a", "exec: {apiVersion: client.authentication.k8s.io/v1, command: bin/login, env: [{name: A, value: b}], args: [x]}", "", "a");
  const auto allowed = load(text, {.allowed_plugins = std::vector<std::string>{"/d/bin/login"}});
  ASSERT_TRUE(allowed.has_value()) << allowed.error().message;
  EXPECT_EQ(*allowed->exec, (ExecPlugin{.api_version = "client.authentication.k8s.io/v1", .command = "/d/bin/login", .args = {"x"}, .env = {{"A", "b"}}}));
  EXPECT_EQ(load(text, {.allowed_plugins = std::vector<std::string>{"login"}}).error().code, ErrorCode::Denied);
}

TEST(Kubeconfig, ReadsTheEnvironmentOnce) {
  const char* const block[] = {"HOME=/h", "KUBECONFIG=/a:/b", "KUBERNETES_SERVICE_HOST=10.0.0.1", "KUBERNETES_SERVICE_PORT=443", "https_proxy=low", "HTTPS_PROXY=high", "odd", nullptr};
  const ClientEnvironment environment = client_environment(block);
  EXPECT_EQ(environment.home, "/h");
  EXPECT_EQ(environment.kubeconfig, "/a:/b");
  EXPECT_EQ(environment.service_host, "10.0.0.1");
  EXPECT_EQ(environment.service_port, "443");
  EXPECT_EQ(environment.https_proxy, "high");
  EXPECT_EQ(environment.all.size(), 6u);
}

}  // namespace
}  // namespace verl::kube
