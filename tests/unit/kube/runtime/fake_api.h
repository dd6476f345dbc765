// An Api that answers from a script, in order. A request the script does not foresee fails the test.
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "kube/protocol/http.h"

namespace verl::kube {

inline std::string query_text(const Request& request) {
  std::string text;
  for (const auto& [name, value] : request.query) text += (text.empty() ? "" : "&") + name + "=" + value;
  return text;
}

class FakeApi final : public Api {
 public:
  struct Exchange {
    std::string wanted{};  // stands in the query, e.g. "limit=500"
    int status{200};
    std::vector<std::string> pieces{};                // the body; for a watch, piece by piece
    std::optional<Error> error{};                     // instead of an answer, or after the pieces
    bool open{false};                                 // a watch that stays open until it is stopped
    std::function<void()> before{};                   // runs when the request is there
    std::function<void()> after{};                    // runs when the pieces were read
  };

  void add(Exchange exchange) {
    const std::lock_guard lock(mutex_);
    script_.push_back(std::move(exchange));
    changed_.notify_all();
  }

  Result<Reply> send(const Request& request, std::stop_token) override {
    const auto exchange = take(request);
    if (exchange.error) return tl::unexpected<Error>(*exchange.error);
    Reply reply{.status = exchange.status};
    for (const auto& piece : exchange.pieces) reply.body += piece;
    if (exchange.after) exchange.after();
    return reply;
  }

  Result<bool> stream(const Request& request, StreamSink& sink, std::stop_token stop) override {
    const auto exchange = take(request);
    if (exchange.pieces.empty() && exchange.error) return tl::unexpected<Error>(*exchange.error);
    if (!sink.on_reply(exchange.status, {}, {})) return false;
    for (const auto& piece : exchange.pieces) {
      if (!sink.on_bytes(piece)) return false;
    }
    if (exchange.after) exchange.after();
    if (exchange.open) wait_for_stop(stop);
    if (stop.stop_requested()) return failure(ErrorCode::Cancelled, "stopped");
    if (exchange.error) return tl::unexpected<Error>(*exchange.error);
    return true;
  }

  std::vector<std::string> asked() const {
    const std::lock_guard lock(mutex_);
    return asked_;
  }

 private:
  Exchange take(const Request& request) {
    std::unique_lock lock(mutex_);
    asked_.push_back(query_text(request));
    if (script_.empty()) {
      ADD_FAILURE() << "not in the script: " << asked_.back();
      return {.error = Error{.code = ErrorCode::Unavailable, .message = "the script is over"}};
    }
    Exchange exchange = std::move(script_.front());
    script_.pop_front();
    lock.unlock();
    EXPECT_NE(query_text(request).find(exchange.wanted), std::string::npos) << query_text(request) << " does not hold " << exchange.wanted;
    if (exchange.before) exchange.before();
    return exchange;
  }

  void wait_for_stop(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, stop, [] { return false; });
  }

  mutable std::mutex mutex_{};
  std::condition_variable_any changed_{};
  std::deque<Exchange> script_{};
  std::vector<std::string> asked_{};
};

}  // namespace verl::kube
