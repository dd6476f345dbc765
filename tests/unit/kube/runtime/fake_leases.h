// An apiserver that knows one Lease: versions, preconditions, watch; and can be made unreachable for one client.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "kube/protocol/http.h"

namespace verl::kube {

class FakeLeases {
 public:
  struct Write {
    std::string method{};
    std::string holder{};
    int transitions{0};
    int status{0};
  };

  Result<Reply> send(const Request& request) {
    const std::lock_guard lock(mutex_);
    if (request.method == Method::Get) return lease_.is_null() ? not_found() : reply(200);
    const auto body = nlohmann::json::parse(request.body, nullptr, false);
    Result<Reply> answer = write(request.method, body);
    writes_.push_back({.method = request.method == Method::Post ? "POST" : "PUT", .holder = body["spec"]["holderIdentity"],
                       .transitions = body["spec"]["leaseTransitions"], .status = answer->status});
    changed_.notify_all();
    return answer;
  }

  Result<bool> stream(const Request& request, StreamSink& sink, const std::stop_token& stop) {
    std::string seen;
    for (const auto& [name, value] : request.query) {
      if (name == "resourceVersion") seen = value;
    }
    if (!sink.on_reply(200, {}, {})) return false;
    std::unique_lock lock(mutex_);
    while (true) {
      const bool moved = changed_.wait_for(lock, stop, request.timeout, [&] { return version_text() != seen; });
      if (stop.stop_requested()) return failure(ErrorCode::Cancelled, "stopped");
      if (!moved) return failure(ErrorCode::Timeout, "silent");
      seen = version_text();
      const std::string line = nlohmann::json({{"type", lease_.is_null() ? "DELETED" : "MODIFIED"}, {"object", lease_}}).dump() + "\n";
      lock.unlock();
      const bool go_on = sink.on_bytes(line);
      lock.lock();
      if (!go_on) return false;
    }
  }

  std::vector<Write> writes() const {
    const std::lock_guard lock(mutex_);
    return writes_;
  }
  nlohmann::json lease() const {
    const std::lock_guard lock(mutex_);
    return lease_;
  }

 private:
  std::string version_text() const { return std::to_string(version_); }
  Result<Reply> reply(int status) const { return Reply{.status = status, .body = lease_.dump()}; }
  static Result<Reply> not_found() { return Reply{.status = 404, .body = R"({"kind":"Status","code":404,"reason":"NotFound"})"}; }
  static Result<Reply> conflict() { return Reply{.status = 409, .body = R"({"kind":"Status","code":409,"reason":"Conflict"})"}; }

  Result<Reply> write(Method method, const nlohmann::json& body) {
    if (method == Method::Post && !lease_.is_null()) return conflict();
    if (method == Method::Put) {
      if (lease_.is_null()) return not_found();
      if (body["metadata"]["resourceVersion"] != lease_["metadata"]["resourceVersion"]) return conflict();
    }
    lease_ = body;
    lease_["metadata"]["resourceVersion"] = std::to_string(++version_);
    lease_["metadata"]["uid"] = "u";
    return reply(method == Method::Post ? 201 : 200);
  }

  mutable std::mutex mutex_{};
  std::condition_variable_any changed_{};
  nlohmann::json lease_{};
  int version_{0};
  std::vector<Write> writes_{};
};

// One client's way to it.
class FakeLeasesClient final : public Api {
 public:
  explicit FakeLeasesClient(FakeLeases& server) : server_(server) {}

  Result<Reply> send(const Request& request, std::stop_token stop) override {
    if (!wait_while_hung(stop)) return failure(ErrorCode::Cancelled, "stopped");
    return server_.send(request);
  }
  Result<bool> stream(const Request& request, StreamSink& sink, std::stop_token stop) override {
    if (!wait_while_hung(stop)) return failure(ErrorCode::Cancelled, "stopped");
    return server_.stream(request, sink, stop);
  }
  void hang(bool on) {
    const std::lock_guard lock(mutex_);
    hung_ = on;
    changed_.notify_all();
  }

 private:
  bool wait_while_hung(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    return changed_.wait(lock, stop, [this] { return !hung_; });
  }

  FakeLeases& server_;
  std::mutex mutex_{};
  std::condition_variable_any changed_{};
  bool hung_{false};
};

}  // namespace verl::kube
