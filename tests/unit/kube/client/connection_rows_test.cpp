// Connections: reuse, silence, several addresses, stopping.
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <thread>

#include "kube/client/resolve.h"
#include "kube/client/sigpipe.h"
#include "kube/client/socket_options.h"
#include "tests/unit/kube/client/client_fixture.h"

namespace verl::kube {
namespace {

using scripted::End;
using scripted::json;
using scripted::no_answer;
using scripted::ScriptedServer;
using std::chrono::milliseconds;

constexpr const char* kPods = "/api/v1/pods";

// Runs `work` and says how long it took.
template <class Work>
milliseconds time_of(Work work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - start);
}

TEST(Connection, H1_T2_AnIdleConnectionThatTheServerClosedIsReplacedSilently) {
  for (const End end : {End::Close, End::CloseWithoutNotify, End::Reset}) {
    ScriptedServer server;
    scripted::Answer last = json(200, "{}");
    last.end = end;
    server.expect({.path = kPods, .answer = last});
    server.expect({.path = kPods, .answer = json(200, "{}")});
    TestClient client(server);
    const auto api = client.connect();
    EXPECT_EQ(api->send(get(kPods), {})->status, 200);
    while (server.open_connections() > 0) std::this_thread::yield();
    EXPECT_EQ(api->send(get(kPods), {})->status, 200);
    EXPECT_TRUE(client.sleeper->waits().empty());
  }
}

TEST(Connection, H1_AGetOnAReusedConnectionThatBreaksIsSentOnceMoreAtOnce) {
  ScriptedServer server;
  server.expect({.path = kPods, .answer = json(200, "{}")});
  server.expect({.path = kPods, .answer = no_answer(End::Close)});
  server.expect({.path = kPods, .answer = json(200, "{}")});
  TestClient client(server);
  const auto api = client.connect();
  EXPECT_EQ(api->send(get(kPods), {})->status, 200);
  EXPECT_EQ(api->send(get(kPods), {})->status, 200);
  EXPECT_TRUE(client.sleeper->waits().empty());
  EXPECT_EQ(server.seen().at(1).connection, 1);
  EXPECT_EQ(server.seen().at(2).connection, 2);
}

TEST(Connection, H1_AWriteIsNotRiskedOnAConnectionThatWasIdleForLong) {
  ScriptedServer server;
  server.expect({.path = kPods, .answer = json(200, "{}")});
  server.expect({.method = "POST", .path = kPods, .answer = json(201, "{}")});
  TestClient client(server);
  client.options.transport.idle_limit_for_writes = milliseconds(0);
  const auto api = client.connect();
  EXPECT_EQ(api->send(get(kPods), {})->status, 200);
  std::this_thread::sleep_for(milliseconds(2));
  EXPECT_EQ(api->send(Request{.method = Method::Post, .path = kPods, .body = "{}"}, {})->status, 201);
  EXPECT_EQ(server.seen().at(1).connection, 2);
}

// A listener whose queue is full: further connection attempts get no answer at all.
class BlackHole final {
 public:
  BlackHole() {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    address_.sin_family = AF_INET;
    inet_pton(AF_INET, "127.0.0.1", &address_.sin_addr);
    bind(listener_, reinterpret_cast<sockaddr*>(&address_), sizeof address_);
    listen(listener_, 0);
    socklen_t size = sizeof address_;
    getsockname(listener_, reinterpret_cast<sockaddr*>(&address_), &size);
    for (int& filler : fillers_) {
      filler = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
      connect(filler, reinterpret_cast<sockaddr*>(&address_), sizeof address_);
    }
  }
  ~BlackHole() {
    for (const int filler : fillers_) close(filler);
    close(listener_);
  }
  BlackHole(const BlackHole&) = delete;
  BlackHole& operator=(const BlackHole&) = delete;
  int port() const { return ntohs(address_.sin_port); }

 private:
  int listener_{-1};
  sockaddr_in address_{};
  std::array<int, 4> fillers_{};
};

TEST(Connection, H2_ABlackHoleOnConnectFailsAtTheConnectLimit) {
  const BlackHole hole;
  ScriptedServer server;
  TestClient client(server);
  client.config.server.port = hole.port();
  client.options.transport.connect_limit = milliseconds(300);
  const auto api = client.connect();
  const auto took = time_of([&] { expect_error(api->send(get(kPods), {}), ErrorCode::Unavailable, "no connection within 300 ms"); });
  EXPECT_GE(took, milliseconds(250));
  EXPECT_LT(took, milliseconds(2000));
  EXPECT_EQ(TransportOptions{}.connect_limit, milliseconds(5000));
}

TEST(Connection, H2_AServerThatAcceptsAndNeverSpeaksTlsFailsAtTheConnectLimit) {
  ScriptedServer server({.never_handshake = true});
  TestClient client(server);
  client.options.transport.connect_limit = milliseconds(300);
  const auto took = time_of([&] { expect_error(client.connect()->send(get(kPods), {}), ErrorCode::Unavailable, "TLS handshake"); });
  EXPECT_LT(took, milliseconds(2000));
}

TEST(Connection, H2_ARefusedConnectionSaysSo) {
  ScriptedServer server;
  TestClient client(server);
  server.stop();
  expect_error(client.connect()->send(get(kPods), {}), ErrorCode::Unavailable, "is the apiserver running");
}

TEST(Connection, H3_ASilentStreamEndsAtItsTimeout) {
  ScriptedServer server;
  const auto body = std::make_shared<scripted::LiveBody>();
  server.expect({.path = kPods, .answer = scripted::live_watch(body)});
  TestClient client(server);
  const auto api = client.connect();
  Request request = get(kPods);
  request.timeout = Seconds(1);
  Recorder recorder;
  body->push("one\n");
  Result<bool> ended = true;
  const auto took = time_of([&] { ended = api->stream(request, recorder, {}); });
  ASSERT_FALSE(ended.has_value());
  EXPECT_EQ(ended.error().code, ErrorCode::Timeout);
  EXPECT_EQ(recorder.text, "one\n");
  EXPECT_GE(took, milliseconds(950));
  EXPECT_LT(took, milliseconds(2500));
  EXPECT_TRUE(body->wait_client_gone());
}

TEST(Connection, H3_ASilentAnswerEndsAtTheCallsTimeout) {
  ScriptedServer server;
  server.expect({.method = "POST", .path = kPods, .answer = no_answer(End::Hang)});
  TestClient client(server);
  Request request{.method = Method::Post, .path = kPods, .body = "{}", .timeout = Seconds(1)};
  expect_error(client.connect()->send(request, {}), ErrorCode::Timeout, "no complete answer within 1000 ms");
}

TEST(Connection, H3_AnAnswerThatTricklesEndsAtTheCallsTimeout) {
  ScriptedServer server;
  scripted::Answer slow{.framing = scripted::Framing::Chunked};
  for (int i = 0; i < 40; ++i) slow.pieces.push_back({.bytes = "x", .after = milliseconds(100)});
  server.expect({.path = kPods, .answer = slow});
  TestClient client(server);
  Request request = get(kPods);
  request.timeout = Seconds(1);
  const auto took = time_of([&] { expect_error(client.connect()->send(request, {}), ErrorCode::Timeout, "no complete answer"); });
  EXPECT_LT(took, milliseconds(2500));
}

TEST(Connection, H3_SocketsNoticeAPeerThatVanished) {
  const int socket_number = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  configure_socket(socket_number);
  const auto option = [socket_number](int level, int name) {
    int value = 0;
    socklen_t size = sizeof value;
    getsockopt(socket_number, level, name, &value, &size);
    return value;
  };
  EXPECT_EQ(option(SOL_SOCKET, SO_KEEPALIVE), 1);
  EXPECT_LE(option(IPPROTO_TCP, TCP_KEEPIDLE) + option(IPPROTO_TCP, TCP_KEEPINTVL) * option(IPPROTO_TCP, TCP_KEEPCNT), 60);
  EXPECT_EQ(option(IPPROTO_TCP, TCP_USER_TIMEOUT), 30000);
  EXPECT_EQ(option(IPPROTO_TCP, TCP_NODELAY), 1) << "T5: a write after a write must not wait for an acknowledgement";
  close(socket_number);
}

TEST(Connection, H11_ANameWithSeveralAddressesIsTriedThrough) {
  const auto addresses = resolve("localhost", milliseconds(2000), {});
  ASSERT_TRUE(addresses.has_value());
  for (const std::string& address : *addresses) {
    ScriptedServer server({.address = address});  // listens on one family only: the other refuses
    server.expect({.path = kPods, .answer = json(200, "{}")});
    TestClient client(server);
    client.config.server.host = "localhost";
    EXPECT_TRUE(client.connect()->send(get(kPods), {}).has_value()) << address;
  }
}

TEST(Connection, H12_StoppingEndsAWatchWithinASecond) {
  ignore_sigpipe();
  ScriptedServer server;
  const auto body = std::make_shared<scripted::LiveBody>();
  server.expect({.path = kPods, .answer = scripted::live_watch(body)});
  TestClient client(server);
  const auto api = client.connect();
  std::stop_source stop;
  Result<bool> ended = true;
  std::thread watcher([&] {
    Recorder recorder;
    ended = api->stream(get(kPods), recorder, stop.get_token());
  });
  ASSERT_TRUE(body->wait_opened());
  const auto took = time_of([&] {
    stop.request_stop();
    watcher.join();
  });
  EXPECT_LT(took, milliseconds(1000));
  ASSERT_FALSE(ended.has_value());
  EXPECT_EQ(ended.error().code, ErrorCode::Cancelled);
}

TEST(Connection, H12_StoppingEndsACallInEveryPhase) {
  ignore_sigpipe();
  const BlackHole hole;
  ScriptedServer silent_tls({.never_handshake = true});
  ScriptedServer silent({.unused_is_fine = true});
  silent.expect({.path = kPods, .answer = no_answer(End::Hang), .times = scripted::kAnyTimes});
  for (const int port : {hole.port(), silent_tls.port(), silent.port()}) {
    TestClient client(silent);
    client.config.server.port = port;
    client.options.transport.connect_limit = milliseconds(8000);
    const auto api = client.connect();
    std::stop_source stop;
    Result<Reply> reply = Reply{};
    std::thread caller([&] { reply = api->send(get(kPods), stop.get_token()); });
    std::this_thread::sleep_for(milliseconds(100));  // lets the call get into its phase; stopping earlier must work too
    const auto took = time_of([&] {
      stop.request_stop();
      caller.join();
    });
    EXPECT_LT(took, milliseconds(1000)) << port;
    expect_error(reply, ErrorCode::Cancelled, "");
  }
}

TEST(Connection, H12_StoppingEndsAWaitBetweenRetriesAndForATurn) {
  ScriptedServer server;
  server.expect({.path = "/slow", .answer = no_answer(End::Hang)});
  TestClient client(server);
  client.options.transport.most_connections = 1;
  const auto api = client.connect();
  std::stop_source stop_slow;
  std::stop_source stop_waiting;
  std::thread slow([&] { EXPECT_FALSE(api->send(get("/slow"), stop_slow.get_token()).has_value()); });
  ASSERT_TRUE(server.wait_seen(1));
  Result<Reply> reply = Reply{};
  std::thread waiting([&] { reply = api->send(get(kPods), stop_waiting.get_token()); });
  stop_waiting.request_stop();
  waiting.join();
  expect_error(reply, ErrorCode::Cancelled, "stopped");
  Request brief = get(kPods);
  brief.timeout = Seconds(1);
  expect_error(api->send(brief, {}), ErrorCode::Timeout, "all connections were busy");
  stop_slow.request_stop();
  slow.join();
}

}  // namespace
}  // namespace verl::kube
