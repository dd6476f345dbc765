#include "telemetry/http_server.h"

#include <fmt/format.h>
#include <httplib.h>

#include <thread>

namespace verl::telemetry {

struct HttpServer::State {
  httplib::Server server{};
  std::thread thread{};
};

Result<std::unique_ptr<HttpServer>> HttpServer::start(const std::string& address, int port, std::map<std::string, std::function<Page()>> pages) {
  auto state = std::make_unique<State>();
  state->server.new_task_queue = [] { return new httplib::ThreadPool(2); };
  state->server.set_payload_max_length(4096);
  state->server.set_read_timeout(5);
  state->server.set_write_timeout(5);
  state->server.set_tcp_nodelay(true);
  for (auto& [path, page] : pages) {
    state->server.Get(path, [page = std::move(page)](const httplib::Request&, httplib::Response& response) {
      const Page made = page();
      response.status = made.status;
      response.set_content(made.body, "text/plain; version=0.0.4; charset=utf-8");
    });
  }
  if (!state->server.bind_to_port(address, port)) {
    return failure(ErrorCode::Unavailable, fmt::format("listening on {}:{} failed: is the port taken?", address, port));
  }
  state->thread = std::thread([server = &state->server] { server->listen_after_bind(); });
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(state)));
}

HttpServer::HttpServer(std::unique_ptr<State> state) : state_(std::move(state)) {}

HttpServer::~HttpServer() {
  state_->server.stop();
  if (state_->thread.joinable()) state_->thread.join();
}

}  // namespace verl::telemetry
