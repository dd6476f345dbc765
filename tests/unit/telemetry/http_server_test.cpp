// Our own serving of health and metrics over real sockets: what is answered, and that silent or greedy peers do no harm (T15).
#include "telemetry/http_server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>

namespace verl::telemetry {
namespace {

using namespace std::chrono_literals;

class Peer final {
 public:
  explicit Peer(int port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(port));
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
  }
  ~Peer() { ::close(socket_); }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  void say(std::string_view text) const { EXPECT_EQ(::send(socket_, text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size())); }
  // Everything until the other side closes, or for ten seconds.
  std::string hear() const {
    std::string all;
    char buffer[4096];
    const auto deadline = std::chrono::steady_clock::now() + 10s;
    for (;;) {
      pollfd one{.fd = socket_, .events = POLLIN, .revents = 0};
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
      if (left <= 0 || ::poll(&one, 1, static_cast<int>(left)) != 1) return all + " (still open)";
      const ssize_t got = ::recv(socket_, buffer, sizeof buffer, 0);
      if (got <= 0) return all;
      all.append(buffer, static_cast<std::size_t>(got));
    }
  }

 private:
  int socket_;
};

std::unique_ptr<HttpServer> start() {
  auto server = HttpServer::start("127.0.0.1", 0, {{"/healthz", [] { return Page{200, "ok\n"}; }}, {"/readyz", [] { return Page{503, "caches are not filled yet\n"}; }}});
  EXPECT_TRUE(server.has_value());
  return server ? std::move(*server) : nullptr;
}

std::string get(int port, const std::string& path, const std::string& more = "") {
  const Peer peer(port);
  peer.say("GET " + path + " HTTP/1.1\r\nHost: x\r\n" + more + "\r\n");
  return peer.hear();
}

std::string first_line(const std::string& answer) { return answer.substr(0, answer.find('\r')); }

TEST(HttpServer, AnswersItsPagesAndNothingElse) {
  const auto server = start();
  const std::string well = get(server->port(), "/healthz");
  EXPECT_EQ(first_line(well), "HTTP/1.1 200 OK");
  EXPECT_TRUE(well.ends_with("\r\n\r\nok\n")) << well;
  EXPECT_NE(well.find("Content-Type: text/plain; version=0.0.4; charset=utf-8"), std::string::npos) << well;
  const std::string unready = get(server->port(), "/readyz?x=1");
  EXPECT_EQ(first_line(unready), "HTTP/1.1 503 Service Unavailable");
  EXPECT_TRUE(unready.ends_with("caches are not filled yet\n")) << unready;
  for (const char* path : {"/", "/healthz/..", "/../etc/passwd", "/metrics"}) EXPECT_EQ(first_line(get(server->port(), path)), "HTTP/1.1 404 Not Found") << path;
}

TEST(HttpServer, T15_AConnectionServesOneRequest) {
  const auto server = start();
  const std::string answer = get(server->port(), "/healthz", "Connection: keep-alive\r\n");
  EXPECT_NE(answer.find("Connection: close"), std::string::npos) << answer;
  EXPECT_EQ(answer.find("still open"), std::string::npos) << answer;
}

TEST(HttpServer, T15_ABodyIsRefusedUnread) {
  const auto server = start();
  for (const char* method : {"POST", "PUT", "PATCH", "DELETE"}) {
    const Peer peer(server->port());
    const auto began = std::chrono::steady_clock::now();
    peer.say(std::string(method) + " /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 1073741824\r\n\r\n");
    EXPECT_EQ(first_line(peer.hear()), "HTTP/1.1 405 Method Not Allowed") << method;
    EXPECT_LT(std::chrono::steady_clock::now() - began, 1s) << "nobody waits for a body";
  }
  EXPECT_EQ(first_line(get(server->port(), "/healthz")), "HTTP/1.1 200 OK");
}

TEST(HttpServer, T15_PeersThatSayNothingDelayAProbeBySecondsAtMost) {
  const auto server = start();
  std::vector<std::unique_ptr<Peer>> silent;
  for (int i = 0; i < 3; ++i) silent.push_back(std::make_unique<Peer>(server->port()));
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(first_line(get(server->port(), "/healthz")), "HTTP/1.1 200 OK");
  EXPECT_LT(std::chrono::steady_clock::now() - began, 1s) << "one thread is left";
  for (int i = 0; i < 5; ++i) silent.push_back(std::make_unique<Peer>(server->port()));
  EXPECT_EQ(first_line(get(server->port(), "/healthz")), "HTTP/1.1 200 OK") << "they are dropped after two seconds";
}

TEST(HttpServer, T15_EndsBesideOpenConnections) {
  auto server = start();
  const Peer silent(server->port());
  const Peer half(server->port());
  half.say("GET /hea");
  get(server->port(), "/healthz");  // both are with a thread by now
  const auto began = std::chrono::steady_clock::now();
  server.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - began, 4s) << "SIGTERM has five seconds in all";
}

TEST(HttpServer, EndsRightAfterItsStart) {
  for (int i = 0; i < 20; ++i) start().reset();
}

TEST(HttpServer, ATakenPortIsAnErrorThatNamesIt) {
  const auto server = start();
  const auto second = HttpServer::start("127.0.0.1", server->port(), {});
  ASSERT_FALSE(second.has_value()) << "half of the probes would be answered by the other";
  EXPECT_NE(second.error().message.find(std::to_string(server->port())), std::string::npos) << second.error().message;
}

}  // namespace
}  // namespace verl::telemetry
