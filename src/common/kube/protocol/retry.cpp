#include "kube/protocol/retry.h"

#include <algorithm>

#include "base/text.h"

namespace verl::kube {
namespace {

using std::chrono::milliseconds;

milliseconds back_off(int waited, double jitter) {
  const double base = std::min(250.0 * static_cast<double>(1 << std::min(waited, 7)), 30000.0);
  return milliseconds(static_cast<milliseconds::rep>(base * (1.0 + jitter / 5)));
}

RetryStep resend_after(RetryState state, milliseconds wait) {
  if (state.waited >= kMostRetries) return RetryStep{.state = state};
  ++state.waited;
  return RetryStep{.what = RetryStep::What::Resend, .wait = wait, .state = state};
}

RetryStep after_answer(RetryState state, const Attempt& attempt, double jitter) {
  const bool asks_to_wait = (attempt.status == 429 || attempt.status >= 500) && attempt.retry_after.has_value();
  if (asks_to_wait) {
    return resend_after(state, std::max<milliseconds>(*attempt.retry_after, back_off(state.waited, jitter)));
  }
  if (attempt.status == 401 && !state.reauthenticated && (attempt.method == Method::Get || attempt.is_apply)) {
    state.reauthenticated = true;
    return RetryStep{.what = RetryStep::What::ResendWithFreshCredentials, .state = state};
  }
  return RetryStep{.state = state};
}

}  // namespace

RetryStep next_step(const RetryState& before, const Attempt& attempt, double jitter) {
  RetryState state = before;
  switch (attempt.reach) {
    case Reach::Answered:
      return after_answer(state, attempt, jitter);
    case Reach::NotConnected:
      return RetryStep{.state = state};
    case Reach::NoAnswer:
    case Reach::Cut:
      break;
  }
  if (attempt.method != Method::Get) return RetryStep{.state = state};  // the write may have happened: its outcome is unknown
  if (attempt.reach == Reach::NoAnswer && attempt.reused_connection && !state.resent_stale) {
    state.resent_stale = true;
    return RetryStep{.what = RetryStep::What::Resend, .state = state};
  }
  return resend_after(state, milliseconds(1000));
}

std::optional<Seconds> parse_retry_after(std::string_view value, std::optional<Timestamp> now) {
  constexpr Seconds kLongest{24 * 3600};
  const std::string_view text = trim(value);
  if (text.empty()) return std::nullopt;
  const bool digits = std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (digits) {
    const std::optional<std::int64_t> number = parse_int(text);
    return number.has_value() ? std::min(Seconds(*number), kLongest) : kLongest;  // out of range: very long indeed
  }
  const std::optional<Timestamp> date = parse_http_date(text);
  if (!date.has_value() || !now.has_value()) return std::nullopt;
  return std::clamp(std::chrono::ceil<Seconds>(*date - *now), Seconds(0), kLongest);
}

}  // namespace verl::kube
