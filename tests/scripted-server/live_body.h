// The shared state behind LiveBody: what the test pushed and the connection has not sent yet.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>

#include "tests/scripted-server/scripted_server.h"

namespace verl::scripted {

struct LiveBody::State {
  std::mutex mutex{};
  std::condition_variable changed{};
  std::deque<std::string> pieces{};
  std::optional<End> end{};
  bool opened{false};
  bool client_gone{false};
};

}  // namespace verl::scripted
