// Who the server must be and who we are: names, authorities, certificates, and their replacement on disk.
#include <thread>

#include "tests/unit/kube/client/client_fixture.h"

namespace verl::kube {
namespace {

using scripted::json;
using scripted::ScriptedServer;
using std::chrono::milliseconds;

constexpr const char* kPods = "/api/v1/pods";

TEST(Tls, H4_NamesAndAddressesOfBothFamiliesVerify) {
  struct Case {
    const char* listen;
    const char* host;
    const char* sni;
  };
  for (const Case& one : {Case{"127.0.0.1", "127.0.0.1", ""}, Case{"::1", "::1", ""}, Case{"127.0.0.1", "localhost", "localhost"}}) {
    ScriptedServer server({.address = one.listen});
    server.expect({.path = kPods, .answer = json(200, "{}")});
    TestClient client(server);
    client.config.server.host = one.host;
    const auto reply = client.connect()->send(get(kPods), {});
    ASSERT_TRUE(reply.has_value()) << one.host << ": " << reply.error().message;
    EXPECT_EQ(server.seen().at(0).header("host"), host_header(client.config.server));
    EXPECT_EQ(server.seen().at(0).sni, one.sni);
  }
  EXPECT_EQ(host_header({.host = "::1", .port = 6443}), "[::1]:6443");
}

TEST(Tls, H5_AWrongNameAnExpiredCertificateAndAnUnknownAuthorityAreToldApart) {
  {
    ScriptedServer server({.dns_names = {"other.example"}, .ip_addresses = {"127.0.0.2"}});
    TestClient client(server);
    expect_error(client.connect()->send(get(kPods), {}), ErrorCode::Denied, "is for other names");
    client.config.server.host = "localhost";
    expect_error(client.connect()->send(get(kPods), {}), ErrorCode::Denied, "is for other names");
  }
  {
    ScriptedServer server({.valid_until = std::chrono::seconds(-60)});
    TestClient client(server);
    expect_error(client.connect()->send(get(kPods), {}), ErrorCode::Denied, "is not valid now");
  }
  {
    ScriptedServer server({.valid_from = std::chrono::seconds(3600)});
    TestClient client(server);
    expect_error(client.connect()->send(get(kPods), {}), ErrorCode::Denied, "is not valid now");
  }
  {
    ScriptedServer server;
    TestClient client(server);
    client.config.authority.text = scripted::CertificateAuthority("another").pem();
    expect_error(client.connect()->send(get(kPods), {}), ErrorCode::Denied, "not signed by the configured certificate authority");
  }
  {
    ScriptedServer server;
    TestClient client(server);
    client.config.authority = {};  // the system's roots do not know the test's authority either
    expect_error(client.connect()->send(get(kPods), {}), ErrorCode::Denied, "not signed by the configured certificate authority");
  }
}

TEST(Tls, H5_ACommonNameIsNoName) {
  ScriptedServer server({.dns_names = {}, .ip_addresses = {}});
  const scripted::CertificateAuthority& ca = server.ca();
  server.use_identity(ca, {.common_name = "localhost"});
  TestClient client(server);
  client.config.server.host = "localhost";
  expect_error(client.connect()->send(get(kPods), {}), ErrorCode::Denied, "is for other names");
}

TEST(Tls, H6_T8_TheConfiguredServerNameIsSentAndVerified) {
  ScriptedServer server({.dns_names = {"kube.example"}, .ip_addresses = {"127.0.0.2"}});
  server.expect({.path = kPods, .answer = json(200, "{}")});
  TestClient client(server);
  client.config.tls_server_name = "kube.example";
  const auto reply = client.connect()->send(get(kPods), {});
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(server.seen().at(0).sni, "kube.example");
  EXPECT_EQ(server.seen().at(0).header("host"), "127.0.0.1:" + std::to_string(server.port()));
}

TEST(Tls, H7_AReplacedAuthorityFileIsUsedAtTheNextVerificationFailure) {
  ScriptedServer server;
  server.expect({.path = kPods, .answer = json(200, "{}"), .times = 2});
  const scripted::CertificateAuthority next("next");
  TestClient client(server);
  client.config.authority = {.file = "/ca.crt"};
  client.files.set("/ca.crt", server.ca().pem());
  client.options.transport.idle_limit = milliseconds(0);
  const auto api = client.connect();
  EXPECT_EQ(api->send(get(kPods), {})->status, 200);
  server.use_identity(next, {.ip_addresses = {"127.0.0.1"}});
  expect_error(api->send(get(kPods), {}), ErrorCode::Denied, "not signed");
  client.files.set("/ca.crt", next.pem());
  const auto reply = api->send(get(kPods), {});
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
}

TEST(Tls, H7_AReplacedAuthorityFileIsReadWithinFiveMinutes) {
  ScriptedServer server;
  server.expect({.path = kPods, .answer = json(200, "{}"), .times = 3});
  TestClient client(server);
  client.config.authority = {.file = "/ca.crt"};
  client.files.set("/ca.crt", server.ca().pem());
  const auto api = client.connect();
  EXPECT_EQ(api->send(get(kPods), {})->status, 200);
  const int before = client.files.reads("/ca.crt");
  EXPECT_EQ(api->send(get(kPods), {})->status, 200);
  EXPECT_EQ(client.files.reads("/ca.crt"), before);
  client.clock->advance(std::chrono::minutes(5));
  EXPECT_EQ(api->send(get(kPods), {})->status, 200);
  EXPECT_EQ(client.files.reads("/ca.crt"), before + 1);
}

void write_files(TestClient& client, const scripted::Identity& identity) {
  client.files.set("/tls.crt", identity.certificate_pem);
  client.files.set("/tls.key", identity.key_pem);
}

TEST(Tls, H8_T7_AReplacedClientCertificateClosesIdleConnectionsAndStreams) {
  ScriptedServer server;
  const auto body = std::make_shared<scripted::LiveBody>();
  server.expect({.path = kPods, .answer = json(200, "{}"), .times = 2});
  server.expect({.path = "/watch", .answer = scripted::live_watch(body)});
  TestClient client(server);
  client.config.token.clear();
  client.config.certificate = {.file = "/tls.crt"};
  client.config.key = {.file = "/tls.key"};
  write_files(client, server.ca().issue({.common_name = "first"}));
  const auto api = client.connect();
  EXPECT_EQ(api->send(get(kPods), {})->status, 200);
  Result<bool> ended = true;
  std::thread watcher([&] {
    Recorder recorder;
    ended = api->stream(get("/watch"), recorder, {});
  });
  ASSERT_TRUE(body->wait_opened());
  write_files(client, server.ca().issue({.common_name = "second"}));
  client.clock->advance(std::chrono::minutes(5));
  EXPECT_EQ(api->send(get(kPods), {})->status, 200);
  watcher.join();
  ASSERT_FALSE(ended.has_value());
  EXPECT_EQ(ended.error().code, ErrorCode::Unavailable);
  EXPECT_NE(ended.error().message.find("the client certificate was replaced"), std::string::npos) << ended.error().message;
  EXPECT_EQ(server.seen().at(0).client_name, "first");
  EXPECT_EQ(server.seen().at(2).client_name, "second");
}

TEST(Tls, H8_AHalfWrittenClientCertificateKeepsTheOneInUse) {
  ScriptedServer server;
  server.expect({.path = kPods, .answer = json(200, "{}"), .times = 2});
  TestClient client(server);
  client.config.certificate = {.file = "/tls.crt"};
  client.config.key = {.file = "/tls.key"};
  write_files(client, server.ca().issue({.common_name = "first"}));
  const auto api = client.connect();
  EXPECT_EQ(api->send(get(kPods), {})->status, 200);
  client.files.set("/tls.crt", server.ca().issue({.common_name = "second"}).certificate_pem);  // the key is still the first one's
  client.clock->advance(std::chrono::minutes(5));
  EXPECT_EQ(api->send(get(kPods), {})->status, 200);
  EXPECT_EQ(server.seen().at(1).client_name, "first");
  ASSERT_EQ(client.said->size(), 1u);
  EXPECT_NE(client.said->at(0).find("the client key does not belong to the client certificate"), std::string::npos);
}

TEST(Tls, H9_SkippingVerificationWithAnAuthorityIsAContradiction) {
  ScriptedServer server;
  const auto transport = make_httplib_transport({.host = "127.0.0.1"}, {.ca_pem = server.ca().pem(), .insecure_skip_verify = true}, {});
  ASSERT_FALSE(transport.has_value());
  EXPECT_EQ(transport.error().code, ErrorCode::Invalid);
}

TEST(Tls, SkippingVerificationWorksWhereItIsAskedFor) {
  ScriptedServer server({.dns_names = {"other.example"}, .ip_addresses = {}});
  server.expect({.path = kPods, .answer = json(200, "{}")});
  TestClient client(server);
  client.config.authority = {};
  client.config.insecure_skip_verify = true;
  const auto reply = client.connect()->send(get(kPods), {});
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
}

}  // namespace
}  // namespace verl::kube
