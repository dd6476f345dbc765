// Tokens, impersonation, and that no secret is ever said.
#include "tests/unit/kube/client/client_fixture.h"

namespace verl::kube {
namespace {

using scripted::json;
using scripted::ScriptedServer;

constexpr const char* kPods = "/api/v1/pods";
constexpr const char* kToken = "/var/run/token";

// The Authorization headers in order of arrival.
std::vector<std::string> authorizations(const ScriptedServer& server) {
  std::vector<std::string> out;
  for (const scripted::Seen& seen : server.seen()) out.push_back(seen.header("authorization"));
  return out;
}

struct FileTokenClient : TestClient {
  explicit FileTokenClient(const ScriptedServer& server) : TestClient(server) {
    config.token.clear();
    config.token_file = kToken;
    files.set(kToken, "first\n");
  }
};

TEST(Credentials, C1_APodUsesItsServiceAccount) {
  Files files;
  files.set("/sa/token", "pod-token\n");
  files.set("/sa/ca.crt", "PEM");
  files.set("/sa/namespace", "verl-system\n");
  const ClientEnvironment environment{.service_host = "fd00::1", .service_port = "6443", .service_account_folder = "/sa"};
  const auto config = load_client_config({}, environment, files.reader());
  ASSERT_TRUE(config.has_value()) << config.error().message;
  EXPECT_EQ(*config, (ClientConfig{.server = {.host = "fd00::1", .port = 6443},
                                   .authority = {.file = "/sa/ca.crt"},
                                   .token_file = "/sa/token",
                                   .name_space = "verl-system",
                                   .origin = "the pod's service account"}));
}

TEST(Credentials, C1_AnEmptyOrMissingPartOfTheServiceAccountIsAnError) {
  const ClientEnvironment environment{.service_host = "10.0.0.1", .service_port = "443", .service_account_folder = "/sa"};
  for (const char* missing : {"/sa/token", "/sa/ca.crt"}) {
    Files files;
    files.set("/sa/token", "t");
    files.set("/sa/ca.crt", "PEM");
    files.remove(missing);
    const auto config = in_cluster_config({}, environment, files.reader());
    ASSERT_FALSE(config.has_value());
    EXPECT_NE(config.error().message.find(missing), std::string::npos) << config.error().message;
  }
  Files files;
  files.set("/sa/token", " \n");
  files.set("/sa/ca.crt", "PEM");
  EXPECT_EQ(in_cluster_config({}, environment, files.reader()).error().message, "the pod's service account: /sa/token is empty");
}

TEST(Credentials, C2_ARewrittenTokenFileIsUsedWithinAMinute) {
  ScriptedServer server;
  server.expect({.path = kPods, .answer = json(200, "{}"), .times = 3});
  FileTokenClient client(server);
  const auto api = client.connect();
  EXPECT_EQ(api->send(get(kPods), {})->status, 200);
  client.files.set(kToken, "  second \n");
  client.clock->advance(Seconds(49));
  EXPECT_EQ(api->send(get(kPods), {})->status, 200);
  EXPECT_EQ(client.files.reads(kToken), 1);
  client.clock->advance(Seconds(1));
  EXPECT_EQ(api->send(get(kPods), {})->status, 200);
  EXPECT_EQ(authorizations(server), (std::vector<std::string>{"Bearer first", "Bearer first", "Bearer second"}));
}

TEST(Credentials, C2_AnEmptyTokenFileIsAnError) {
  ScriptedServer server;
  FileTokenClient client(server);
  client.files.set(kToken, "\n");
  const auto reply = client.connect()->send(get(kPods), {});
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(reply.error(), (Error{.code = ErrorCode::Denied, .message = "the token file /var/run/token is empty"}));
}

TEST(Credentials, C3_AnUnreadableTokenFileKeepsTheOldTokenAndSaysSoOnce) {
  ScriptedServer server;
  server.expect({.path = kPods, .answer = json(200, "{}"), .times = 4});
  FileTokenClient client(server);
  const auto api = client.connect();
  EXPECT_EQ(api->send(get(kPods), {})->status, 200);
  client.files.remove(kToken);
  for (int i = 0; i < 3; ++i) {
    client.clock->advance(Seconds(60));
    EXPECT_EQ(api->send(get(kPods), {})->status, 200);
  }
  EXPECT_EQ(authorizations(server).back(), "Bearer first");
  ASSERT_EQ(client.said->size(), 1u);
  EXPECT_NE(client.said->at(0).find("the one read before stays in use"), std::string::npos);
}

TEST(Credentials, C4_A401DropsTheTokenAndAGetIsSentOnceMore) {
  ScriptedServer server;
  server.expect({.path = kPods, .answer = json(401, "{}")});
  server.expect({.path = kPods, .answer = json(200, "{}")});
  FileTokenClient client(server);
  const auto api = client.connect();
  server.expect({.path = "/warm", .answer = json(200, "{}")});
  EXPECT_EQ(api->send(get("/warm"), {})->status, 200);
  client.clock->advance(Seconds(10));
  client.files.set(kToken, "second");
  EXPECT_EQ(api->send(get(kPods), {})->status, 200);
  EXPECT_EQ(authorizations(server), (std::vector<std::string>{"Bearer first", "Bearer first", "Bearer second"}));
}

TEST(Credentials, C4_ASecond401GoesToTheCaller) {
  ScriptedServer server;
  server.expect({.path = kPods, .answer = json(401, "{}"), .times = 2});
  FileTokenClient client(server);
  const auto api = client.connect();
  server.expect({.path = "/warm", .answer = json(200, "{}")});
  EXPECT_EQ(api->send(get("/warm"), {})->status, 200);
  client.clock->advance(Seconds(10));
  EXPECT_EQ(api->send(get(kPods), {})->status, 401);
}

TEST(Credentials, C4_AnApplyIsSentOnceMoreButNoOtherWrite) {
  for (const bool apply : {true, false}) {
    ScriptedServer server;
    server.expect({.path = "/warm", .answer = json(200, "{}")});
    server.expect({.method = "PATCH", .path = kPods, .answer = json(401, "{}")});
    if (apply) server.expect({.method = "PATCH", .path = kPods, .answer = json(200, "{}")});
    FileTokenClient client(server);
    const auto api = client.connect();
    EXPECT_EQ(api->send(get("/warm"), {})->status, 200);
    client.clock->advance(Seconds(10));
    const Request request{.method = Method::Patch,
                          .path = kPods,
                          .content_type = apply ? "application/apply-patch+yaml" : "application/merge-patch+json",
                          .body = "{}"};
    EXPECT_EQ(api->send(request, {})->status, apply ? 200 : 401);
  }
}

TEST(Credentials, C4_ATokenReadAfterTheRequestBeganIsKept) {
  ScriptedServer server;
  server.expect({.path = kPods, .answer = json(401, "{}")});
  FileTokenClient client(server);
  // The file is read for this very request; reading it again could bring nothing newer.
  const auto api = client.connect();
  EXPECT_EQ(api->send(get(kPods), {})->status, 401);
  EXPECT_EQ(client.files.reads(kToken), 1);
}

TEST(Credentials, C4_AFixedTokenIsNotTriedTwice) {
  ScriptedServer server;
  server.expect({.path = kPods, .answer = json(401, "{}")});
  TestClient client(server);
  EXPECT_EQ(client.connect()->send(get(kPods), {})->status, 401);
}

TEST(Credentials, C5_AnExplicitAuthorizationWins) {
  ScriptedServer server;
  server.expect({.path = kPods, .answer = json(200, "{}")});
  TestClient client(server);
  Request request = get(kPods);
  request.headers = {{"authorization", "Bearer explicit"}};
  EXPECT_EQ(client.connect()->send(request, {})->status, 200);
  EXPECT_EQ(authorizations(server), (std::vector<std::string>{"Bearer explicit"}));
}

TEST(Credentials, C6_NoSecretIsSaidWhateverFails) {
  const scripted::Identity identity = scripted::CertificateAuthority().issue({.common_name = "x"});
  const std::string key_line = identity.key_pem.substr(40, 30);
  std::string all;
  const auto note = [&all](const auto& result) {
    if (!result.has_value()) all += result.error().message + "\n";
  };
  // Configurations that hold secrets and are wrong in every way.
  for (const char* wrong : {"bad: [", "users: 7", "users: [{name: a, user: {token: TOPSECRET, tokenFile: [TOPSECRET]}}]",
                            "users: [{name: a, user: {token: TOPSECRET, token: TOPSECRET}}]", "a: TOPSECRET: TOPSECRET",
                            "users: [{name: a, user: {client-key-data: 'TOPSECRET!'}}]", "clusters: [{name: c, cluster: {server: 'https://TOPSECRET@h'}}]\n"
                            "contexts: [{name: x, context: {cluster: c, user: a}}]\nusers: [{name: a, user: {token: TOPSECRET}}]\ncurrent-context: x",
                            "users: [{name: a, user: {username: u, password: TOPSECRET}}]\nclusters: [{name: c, cluster: {server: 'https://h'}}]\n"
                            "contexts: [{name: x, context: {cluster: c, user: a}}]\ncurrent-context: x"}) {
    Files files;
    files.set("/k", wrong, true);
    const auto config = load_client_config({.kubeconfig = "/k"}, {}, files.reader());
    note(config);
    if (config.has_value()) {
      for (const std::string& warning : config->warnings) all += warning + "\n";
    }
  }
  // Calls that fail in every way, with a token and a client key in use.
  ScriptedServer server({.unused_is_fine = true});
  server.expect({.path = "/401", .answer = json(401, "{}"), .times = scripted::kAnyTimes});
  server.expect({.path = "/429", .answer = json(429, "{}")});
  server.expect({.path = "/warn", .answer = json(200, "{}", {{"Warning", "299 - \"careful\""}})});
  server.expect({.method = "POST", .path = "/reset", .answer = scripted::no_answer(scripted::End::Reset)});
  TestClient client(server);
  client.config.token = "TOPSECRET";
  client.config.certificate.text = identity.certificate_pem;
  client.config.key.text = identity.key_pem;
  const auto api = client.connect();
  for (const char* path : {"/401", "/429", "/warn"}) note(api->send(get(path), {}));
  note(api->send(Request{.method = Method::Post, .path = "/reset", .body = "{}"}, {}));
  Request broken_header = get("/401");
  broken_header.headers = {{"Authorization", "Bearer TOPSECRET\r\n"}};
  note(api->send(broken_header, {}));
  server.stop();
  note(api->send(get("/401"), {}));
  note(make_httplib_transport({.host = "h"}, {.certificate_pem = identity.key_pem, .key_pem = identity.key_pem}, {}));
  note(make_httplib_transport({.host = "h"}, {.certificate_pem = identity.certificate_pem, .key_pem = identity.certificate_pem}, {}));
  for (const std::string& line : *client.said) all += line + "\n";
  EXPECT_GT(all.size(), 500u);
  EXPECT_EQ(all.find("TOPSECRET"), std::string::npos) << all;
  EXPECT_EQ(all.find(key_line), std::string::npos) << all;
}

TEST(Credentials, C7_ImpersonationIsSentInItsFourHeaders) {
  ScriptedServer server;
  server.expect({.path = kPods, .answer = json(200, "{}")});
  TestClient client(server);
  client.config.impersonation = {.user = "jane", .uid = "u-1", .groups = {"a", "b"}, .extra = {{"example.com/Scopes", {"x", "y"}}}};
  EXPECT_EQ(client.connect()->send(get(kPods), {})->status, 200);
  const auto seen = server.seen().at(0);
  scripted::Fields found;
  for (const auto& header : seen.headers) {
    if (header.first.starts_with("impersonate-")) found.push_back(header);
  }
  std::sort(found.begin(), found.end());
  EXPECT_EQ(found, (scripted::Fields{{"impersonate-extra-example.com%2fscopes", "x"},
                                     {"impersonate-extra-example.com%2fscopes", "y"},
                                     {"impersonate-group", "a"},
                                     {"impersonate-group", "b"},
                                     {"impersonate-uid", "u-1"},
                                     {"impersonate-user", "jane"}}));
}

}  // namespace
}  // namespace verl::kube
