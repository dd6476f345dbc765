// Whether one request is sent again, and when: a pure step from what happened to what follows.
// It never waits, and what is above one request (read back after a lost write, recompute after a conflict) is the caller's.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "kube/protocol/http.h"

namespace verl::kube {

// How far an exchange came.
enum class Reach {
  NotConnected,  // no connection: refused, unresolved, TLS not agreed; the server saw no request
  NoAnswer,      // the request may have arrived, nothing came back: reset or end of file
  Cut,           // an answer began and broke off
  Answered,      // whole answer
};

struct Attempt {
  Method method{Method::Get};
  bool is_apply{false};           // server-side apply: the same bytes again change nothing
  Reach reach{Reach::Answered};
  bool reused_connection{false};  // the connection had served a request before
  int status{0};                  // when answered
  std::optional<Seconds> retry_after{};
};

struct RetryState {
  int waited{0};                // resends after a wait
  bool resent_stale{false};     // a resend after an idle connection turned out closed
  bool reauthenticated{false};  // a resend after 401
};

struct RetryStep {
  enum class What { Return, Resend, ResendWithFreshCredentials };
  What what{What::Return};
  std::chrono::milliseconds wait{0};
  RetryState state{};
};

constexpr int kMostRetries = 10;

// `jitter` in [0, 1) stretches our own back-off by up to a fifth. Waits are at least the server's Retry-After.
RetryStep next_step(const RetryState& state, const Attempt& attempt, double jitter);

// Seconds or an HTTP date (seen from `now`); nullopt for anything else. At most a day.
std::optional<Seconds> parse_retry_after(std::string_view value, std::optional<Timestamp> now);

}  // namespace verl::kube
