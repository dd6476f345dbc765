// The apiserver's time between two of its answers: the Date of the newest one plus what a steady clock has counted since.
// Every time that decisions compare (creation, renewal, conditions) was stamped by the apiserver, so this is the only "now".
#pragma once

#include <mutex>
#include <optional>

#include "kube/protocol/http.h"

namespace verl::controller {

class ServerTime final {
 public:
  explicit ServerTime(const Clock& clock) : clock_(clock) {}

  void saw(Timestamp date) {
    const std::lock_guard lock(mutex_);
    // Date has whole seconds and is always a little old; the estimate only ever moves forward.
    const auto steady = clock_.steady();
    if (!base_ || date > *base_ + std::chrono::floor<Microseconds>(steady - at_)) {
      base_ = date;
      at_ = steady;
    }
  }

  std::optional<Timestamp> now() const {
    const std::lock_guard lock(mutex_);
    if (!base_) return std::nullopt;
    return *base_ + std::chrono::floor<Microseconds>(clock_.steady() - at_);
  }

 private:
  const Clock& clock_;
  mutable std::mutex mutex_{};
  std::optional<Timestamp> base_{};
  std::chrono::steady_clock::time_point at_{};
};

// An Api that tells ServerTime the Date of everything that passes.
class TimedApi final : public kube::Api {
 public:
  TimedApi(kube::Api& api, ServerTime& time) : api_(api), time_(time) {}
  Result<kube::Reply> send(const kube::Request& request, std::stop_token stop) override {
    auto reply = api_.send(request, std::move(stop));
    if (reply && reply->date) time_.saw(*reply->date);
    return reply;
  }
  Result<bool> stream(const kube::Request& request, kube::StreamSink& sink, std::stop_token stop) override {
    return api_.stream(request, sink, std::move(stop));
  }

 private:
  kube::Api& api_;
  ServerTime& time_;
};

}  // namespace verl::controller
