#include "telemetry/http_server.h"

#include <httplib.h>
#if !defined(CPPHTTPLIB_OPENSSL_SUPPORT) || !defined(CPPHTTPLIB_ZLIB_SUPPORT) || !defined(CPPHTTPLIB_BROTLI_SUPPORT)
#error "compile with the flags of cpp-httplib's pkg-config file: class layouts depend on them"
#endif

#include <fmt/format.h>
#include <sys/socket.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace verl::telemetry {
namespace {

using namespace std::chrono_literals;

constexpr int kThreads = 4;
constexpr size_t kMaxBody = 4096;  // nobody has anything to send here
constexpr time_t kSilenceSeconds = 2;
constexpr auto kStartWithin = 5s;

void limit(httplib::Server& server) {
  server.new_task_queue = [] { return new httplib::ThreadPool(kThreads); };
  // The library's own choice lets a second process listen on the same port, and answer half of the probes of the first.
  server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  // A body is refused before any of it is read; the cap is for whatever gets past that.
  server.set_pre_routing_handler([](const httplib::Request& request, httplib::Response& response) {
    if (request.method == "GET" || request.method == "HEAD") return httplib::Server::HandlerResponse::Unhandled;
    response.status = 405;
    response.set_header("Allow", "GET, HEAD");
    return httplib::Server::HandlerResponse::Handled;
  });
  server.set_payload_max_length(kMaxBody);
  // An idle connection would keep one of few threads, and a stop waiting. A scrape or a probe every few seconds can connect anew.
  server.set_keep_alive_max_count(1);
  server.set_keep_alive_timeout(kSilenceSeconds);
  server.set_read_timeout(kSilenceSeconds);
  server.set_write_timeout(kSilenceSeconds);
  server.set_tcp_nodelay(true);
}

}  // namespace

struct HttpServer::State {
  httplib::Server server{};
  int port{0};
  std::atomic<bool> ended{false};
  std::thread thread{};
};

Result<std::unique_ptr<HttpServer>> HttpServer::start(const std::string& address, int port, std::map<std::string, std::function<Page()>> pages) {
  auto state = std::make_unique<State>();
  limit(state->server);
  for (auto& [path, page] : pages) {
    state->server.Get(path, [page = std::move(page)](const httplib::Request&, httplib::Response& response) {
      const Page made = page();
      response.status = made.status;
      response.set_content(made.body, "text/plain; version=0.0.4; charset=utf-8");
    });
  }
  state->port = port == 0 ? state->server.bind_to_any_port(address) : state->server.bind_to_port(address, port) ? port : -1;
  if (state->port <= 0) {
    return failure(ErrorCode::Unavailable, fmt::format("listening on {}:{} failed: is the port taken?", address, port));
  }
  state->thread = std::thread([one = state.get()] {
    one->server.listen_after_bind();
    one->ended = true;
  });
  auto server = std::unique_ptr<HttpServer>(new HttpServer(std::move(state)));
  // A stop before the thread listens would be forgotten, and the end waited for without end.
  const auto deadline = std::chrono::steady_clock::now() + kStartWithin;
  while (!server->state_->server.is_running() && !server->state_->ended && std::chrono::steady_clock::now() < deadline) std::this_thread::sleep_for(1ms);
  return server;
}

HttpServer::HttpServer(std::unique_ptr<State> state) : state_(std::move(state)) {}

int HttpServer::port() const { return state_->port; }

HttpServer::~HttpServer() {
  state_->server.stop();
  if (state_->thread.joinable()) state_->thread.join();
}

}  // namespace verl::telemetry
