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

  // Date has whole seconds and is a little old, so the estimate only moves forward. A Date far from it is taken for a stray
  // (one apiserver of several with a wrong clock, a proxy's own page) until many in a row say the same.
  void saw(Timestamp date) {
    constexpr Seconds kFar{5};
    constexpr int kConvincing = 8;
    const std::lock_guard lock(mutex_);
    const auto steady = clock_.steady();
    const Microseconds ahead = base_ ? date - (*base_ + std::chrono::floor<Microseconds>(steady - at_)) : Microseconds{1};
    const bool far = ahead > kFar || ahead < -kFar;
    if (far) {
      const Microseconds apart = strays_ > 0 ? date - (stray_ + std::chrono::floor<Microseconds>(steady - stray_at_)) : Microseconds{0};
      strays_ = apart > kFar || apart < -kFar ? 1 : strays_ + 1;
      stray_ = date;
      stray_at_ = steady;
      if (strays_ < kConvincing) return;
    } else {
      strays_ = 0;
      if (ahead <= Microseconds{0}) return;
    }
    base_ = date;
    at_ = steady;
    strays_ = 0;
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
  Timestamp stray_{};  // the last one, of `strays_` in a row that agree with each other
  std::chrono::steady_clock::time_point stray_at_{};
  int strays_{0};
};

// An Api that tells ServerTime the Date of everything that passes.
class TimedApi final : public kube::Api {
 public:
  TimedApi(kube::Api& api, ServerTime& time) : api_(api), time_(time) {}
  Result<kube::Reply> send(const kube::Request& request, std::stop_token stop) override {
    auto reply = api_.send(request, std::move(stop));
    if (reply && reply->date && reply->status >= 200 && reply->status < 300) time_.saw(*reply->date);
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
