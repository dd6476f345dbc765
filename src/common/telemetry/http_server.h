// A small HTTP server for health and metrics: GET only, plain text, a few threads, bounded bodies.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"

namespace verl::telemetry {

struct Page {
  int status{200};
  std::string body{};
};

class HttpServer final {
 public:
  // Serves until destroyed; `pages` maps an exact path to what answers it (called from the server's threads).
  static Result<std::unique_ptr<HttpServer>> start(const std::string& address, int port, std::map<std::string, std::function<Page()>> pages);
  ~HttpServer();

 private:
  struct State;
  explicit HttpServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace verl::telemetry
