// What one request does when the server pushes back or the connection breaks.
#include <chrono>

#include "tests/unit/kube/client/client_fixture.h"

namespace verl::kube {
namespace {

using scripted::Answer;
using scripted::End;
using scripted::json;
using scripted::no_answer;
using scripted::ScriptedServer;
using std::chrono::milliseconds;

constexpr const char* kPods = "/api/v1/pods";

Request post(std::string path, std::string body) {
  return Request{.method = Method::Post, .path = std::move(path), .content_type = "application/json", .body = std::move(body)};
}

TEST(Client, SendsOneRequestAndReturnsItsWholeReply) {
  ScriptedServer server;
  server.expect({.path = kPods,
                 .query = {{"limit", "500"}, {"continue", "a+b/c=&d"}},
                 .answer = json(200, R"({"items":[]})", {{"Date", "Mon, 30 Nov 2026 17:07:09 GMT"}, {"Retry-After", "7"}})});
  TestClient client(server);
  const auto api = client.connect();
  Request request = get(kPods);
  request.query = {{"limit", "500"}, {"continue", "a+b/c=&d"}};
  const auto reply = api->send(request, {});
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(*reply, (Reply{.status = 200, .body = R"({"items":[]})", .retry_after = Seconds(7), .date = parse_rfc3339("2026-11-30T17:07:09Z")}));
  const auto seen = server.seen().at(0);
  EXPECT_EQ(seen.target, "/api/v1/pods?limit=500&continue=a%2Bb%2Fc%3D%26d");
  EXPECT_EQ(seen.header("host"), "127.0.0.1:" + std::to_string(server.port()));
  EXPECT_EQ(seen.header("user-agent"), "verl-operator/0.1.0 (" + std::string(platform()) + ") test");
  EXPECT_EQ(seen.header("accept"), "application/json");
  EXPECT_EQ(seen.header("authorization"), "Bearer secret-token-1");
  EXPECT_EQ(seen.sni, "");  // an address is no server name
}

TEST(Client, R1_WaitsAsLongAsA429SaysAndSendsAgain) {
  ScriptedServer server;
  server.expect({.path = kPods, .answer = json(429, "{}", {{"Retry-After", "3"}})});
  server.expect({.path = kPods, .answer = json(200, "{}")});
  TestClient client(server);
  const auto api = client.connect();
  EXPECT_EQ(api->send(get(kPods), {})->status, 200);
  EXPECT_EQ(client.sleeper->waits(), std::vector<milliseconds>{milliseconds(3000)});
}

TEST(Client, R1_GivesUpAfterTenRetries) {
  ScriptedServer server;
  server.expect({.path = kPods, .answer = json(429, "{}", {{"Retry-After", "1"}}), .times = 11});
  TestClient client(server);
  const auto api = client.connect();
  Request request = get(kPods);
  request.timeout = Seconds(1000);
  EXPECT_EQ(api->send(request, {})->status, 429);
  EXPECT_EQ(client.sleeper->waits().size(), 10u);
}

TEST(Client, R1_DoesNotWaitBeyondTheCallersTimeout) {
  ScriptedServer server;
  server.expect({.path = kPods, .answer = json(429, "{}", {{"Retry-After", "31"}})});
  TestClient client(server);
  const auto api = client.connect();
  const auto reply = api->send(get(kPods), {});
  EXPECT_EQ(reply->status, 429);
  EXPECT_EQ(reply->retry_after, Seconds(31));
  EXPECT_TRUE(client.sleeper->waits().empty());
}

TEST(Client, R2_A429WithoutRetryAfterGoesToTheCaller) {
  ScriptedServer server;
  server.expect({.path = kPods, .answer = json(429, "{}")});
  TestClient client(server);
  EXPECT_EQ(client.connect()->send(get(kPods), {})->status, 429);
}

TEST(Client, R3_AServerErrorWithRetryAfterIsSentAgainForEveryVerb) {
  for (const Method method : {Method::Get, Method::Post, Method::Put, Method::Patch, Method::Delete}) {
    for (const int status : {500, 503}) {
      ScriptedServer server;
      const std::string verb(to_string(method));
      server.expect({.method = verb, .path = kPods, .answer = json(status, "{}", {{"Retry-After", "1"}})});
      server.expect({.method = verb, .path = kPods, .answer = json(200, "{}")});
      TestClient client(server);
      Request request{.method = method, .path = kPods};
      if (method != Method::Get) request.body = R"({"a":1})";
      EXPECT_EQ(client.connect()->send(request, {})->status, 200) << verb << status;
      EXPECT_EQ(server.seen().at(1).body, request.body);
    }
  }
}

TEST(Client, R4_AServerErrorWithoutRetryAfterIsNotRetried) {
  ScriptedServer server;
  server.expect({.path = kPods, .answer = json(500, "{}")});
  TestClient client(server);
  EXPECT_EQ(client.connect()->send(get(kPods), {})->status, 500);
}

TEST(Client, R5_AGetIsSentAgainASecondAfterItsConnectionBroke) {
  for (const End end : {End::Reset, End::Close, End::CloseWithoutNotify}) {
    ScriptedServer server;
    server.expect({.path = kPods, .answer = no_answer(end)});
    server.expect({.path = kPods, .answer = json(200, "{}")});
    TestClient client(server);
    const auto reply = client.connect()->send(get(kPods), {});
    ASSERT_TRUE(reply.has_value()) << reply.error().message;
    EXPECT_EQ(reply->status, 200);
    EXPECT_EQ(client.sleeper->waits(), std::vector<milliseconds>{milliseconds(1000)});
  }
}

TEST(Client, R5_ATruncatedAnswerIsNoAnswer) {
  Answer half = json(200, R"({"items":[)");
  half.declared_length = 1000;
  half.end = End::Close;
  Answer unfinished{.pieces = {{.bytes = R"({"items":[]})"}}, .framing = scripted::Framing::Chunked, .last_chunk = false, .end = End::Close};
  for (const Answer& broken : {half, unfinished}) {
    ScriptedServer server;
    server.expect({.path = kPods, .answer = broken});
    server.expect({.path = kPods, .answer = json(200, "{}")});
    TestClient client(server);
    const auto reply = client.connect()->send(get(kPods), {});
    ASSERT_TRUE(reply.has_value()) << reply.error().message;
    EXPECT_EQ(reply->body, "{}");
  }
}

TEST(Client, R5_AnAnswerWhoseLengthCannotBeTrustedIsRefused) {
  Answer unframed = json(200, "{}");
  unframed.framing = scripted::Framing::UntilClose;
  unframed.end = End::Close;
  const Answer senseless{.end = End::Close, .raw = "HTTP/1.1 200 OK\r\nContent-Length: 0x10\r\n\r\n0123456789abcdef"};
  const Answer doubled{.end = End::Close, .raw = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 4\r\n\r\n{}{}"};
  for (const Answer& answer : {unframed, senseless, doubled}) {
    ScriptedServer server;
    server.expect({.path = kPods, .answer = answer});
    TestClient client(server);
    const auto reply = client.connect()->send(get(kPods), {});
    ASSERT_FALSE(reply.has_value());
    EXPECT_EQ(reply.error().code, ErrorCode::Unavailable);
  }
}

TEST(Client, R6_AWriteWhoseAnswerWasLostIsNotSentAgain) {
  for (const Method method : {Method::Post, Method::Put, Method::Patch, Method::Delete}) {
    for (const End end : {End::Reset, End::Close}) {
      ScriptedServer server;
      server.expect({.method = std::string(to_string(method)), .path = kPods, .answer = no_answer(end)});
      TestClient client(server);
      const auto reply = client.connect()->send(Request{.method = method, .path = kPods, .body = "{}"}, {});
      ASSERT_FALSE(reply.has_value());
      EXPECT_EQ(reply.error().code, ErrorCode::Unavailable);
      EXPECT_EQ(server.seen().size(), 1u);
      EXPECT_TRUE(client.sleeper->waits().empty());
    }
  }
}

TEST(Client, R15_OfAHugeErrorBodyOnlyTheBeginningIsRead) {
  ScriptedServer server;
  server.expect({.path = kPods, .answer = json(500, std::string(10 * 1024 * 1024, 'x'))});
  server.expect({.path = kPods, .answer = json(200, "{}")});
  TestClient client(server);
  const auto api = client.connect();
  const auto reply = api->send(get(kPods), {});
  ASSERT_TRUE(reply.has_value()) << reply.error().message;
  EXPECT_EQ(reply->status, 500);
  EXPECT_LE(reply->body.size(), 2100u);
  EXPECT_EQ(api->send(get(kPods), {})->status, 200);
  EXPECT_EQ(server.seen().at(1).connection, 2) << "the rest of the body is not waited for: the connection is closed";
}

TEST(Client, R16_ABodyOverTheLimitIsAnErrorAndNothingOfItIsReturned) {
  ScriptedServer server;
  server.expect({.path = kPods, .answer = json(200, std::string(2000, ' ') + "{}")});
  TestClient client(server);
  Request request = get(kPods);
  request.max_body = Bytes{1000};
  const auto reply = client.connect()->send(request, {});
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(reply.error(), (Error{.code = ErrorCode::TooLarge, .message = "GET /api/v1/pods: the answer is larger than its limit of 1000 bytes"}));
}

TEST(Client, R17_EachWarningIsSaidOnce) {
  ScriptedServer server;
  server.expect({.path = kPods,
                 .answer = json(200, "{}", {{"Warning", R"(299 - "v1beta1 is deprecated")"}, {"Warning", R"(299 - "say \"no\"")"}}),
                 .times = 3});
  TestClient client(server);
  const auto api = client.connect();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(api->send(get(kPods), {})->status, 200);
  EXPECT_EQ(*client.said, (std::vector<std::string>{"the apiserver warns: v1beta1 is deprecated", R"(the apiserver warns: say "no")"}));
}

TEST(Client, R18_A429IsLoggedWithItsFlowSchema) {
  ScriptedServer server;
  server.expect({.path = kPods, .answer = json(429, "{}", {{"X-Kubernetes-PF-FlowSchema-UID", "fs-uid-7"}})});
  TestClient client(server);
  EXPECT_EQ(client.connect()->send(get(kPods), {})->status, 429);
  EXPECT_EQ(*client.said, (std::vector<std::string>{"GET /api/v1/pods answered 429, flow schema fs-uid-7, retry after 0 s"}));
}

TEST(Client, SendsAWriteWithItsContentTypeAndBody) {
  ScriptedServer server;
  server.expect({.method = "POST", .path = kPods, .answer = json(201, "{}")});
  TestClient client(server);
  EXPECT_EQ(client.connect()->send(post(kPods, R"({"kind":"Pod"})"), {})->status, 201);
  const auto seen = server.seen().at(0);
  EXPECT_EQ(seen.header("content-type"), "application/json");
  EXPECT_EQ(seen.body, R"({"kind":"Pod"})");
}

TEST(Client, RefusesAHeaderThatWouldAddAnother) {
  ScriptedServer server;
  TestClient client(server);
  Request request = get(kPods);
  request.headers = {{"X-Note", "a\r\nAuthorization: Bearer x"}};
  const auto reply = client.connect()->send(request, {});
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(reply.error().code, ErrorCode::Invalid);
}

}  // namespace
}  // namespace verl::kube
