// A small HTTP server for health and metrics: GET only, plain text, one request a connection, bounded bodies.
// Who connects and says nothing holds a thread for two seconds at most, so a probe is answered beside a few of those.
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
  // Serves until destroyed; `pages` maps an exact path to what answers it (called from the server's threads). Port 0: any free one.
  static Result<std::unique_ptr<HttpServer>> start(const std::string& address, int port, std::map<std::string, std::function<Page()>> pages);
  ~HttpServer();

  int port() const;

 private:
  struct State;
  explicit HttpServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace verl::telemetry
