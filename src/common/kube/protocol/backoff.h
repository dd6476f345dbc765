// How long to wait before the next try, as a pure function of how often that was asked.
#pragma once

#include <chrono>
#include <optional>
#include <utility>

#include "base/time.h"

namespace verl::kube {

using Instant = std::chrono::steady_clock::time_point;

// The defaults are those of client-go's reflector (tools/cache/reflector.go).
struct BackoffPolicy {
  Microseconds initial{std::chrono::milliseconds{800}};
  Microseconds max{std::chrono::seconds{30}};
  double factor{2.0};
  double jitter{1.0};                                    // up to this share is added
  Microseconds reset_after{std::chrono::minutes{2}};     // this long without waiting and it starts again
  bool operator==(const BackoffPolicy&) const = default;
};

struct Backoff {
  Microseconds step{0};                  // the last delay before jitter; 0 when none yet
  std::optional<Instant> waited_until{};
  bool operator==(const Backoff&) const = default;
};

struct BackoffDelay {
  Backoff state{};
  Microseconds delay{0};
  bool operator==(const BackoffDelay&) const = default;
};

// `random` lies in [0, 1).
BackoffDelay next_delay(const BackoffPolicy& policy, const Backoff& state, Instant now, double random);

}  // namespace verl::kube
