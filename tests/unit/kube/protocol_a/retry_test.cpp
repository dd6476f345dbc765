#include "kube/protocol/retry.h"

#include <gtest/gtest.h>

namespace verl::kube {
namespace {

using What = RetryStep::What;
using std::chrono::milliseconds;

struct Case {
  const char* name;
  Attempt attempt;
  RetryState before;
  What what;
  milliseconds wait;
};

TEST(Retry, JudgesEachAttempt) {
  const std::vector<Case> cases = {
      {"200", {.status = 200}, {}, What::Return, milliseconds(0)},
      {"429 with a wait", {.method = Method::Post, .status = 429, .retry_after = Seconds(3)}, {}, What::Resend, milliseconds(3000)},
      {"429 with no wait to speak of", {.status = 429, .retry_after = Seconds(0)}, {}, What::Resend, milliseconds(250)},
      {"own back-off grows beyond it", {.status = 429, .retry_after = Seconds(1)}, {.waited = 4}, What::Resend, milliseconds(4000)},
      {"and no further than 30 s", {.status = 429, .retry_after = Seconds(1)}, {.waited = 9}, What::Resend, milliseconds(30000)},
      {"429 silent", {.status = 429}, {}, What::Return, milliseconds(0)},
      {"503 with a wait", {.method = Method::Delete, .status = 503, .retry_after = Seconds(1)}, {}, What::Resend, milliseconds(1000)},
      {"503 silent", {.status = 503}, {}, What::Return, milliseconds(0)},
      {"404 with a wait", {.status = 404, .retry_after = Seconds(1)}, {}, What::Return, milliseconds(0)},
      {"the eleventh", {.status = 429, .retry_after = Seconds(1)}, {.waited = 10}, What::Return, milliseconds(0)},
      {"get lost", {.reach = Reach::NoAnswer}, {}, What::Resend, milliseconds(1000)},
      {"get cut", {.reach = Reach::Cut}, {}, What::Resend, milliseconds(1000)},
      {"get stale", {.reach = Reach::NoAnswer, .reused_connection = true}, {}, What::Resend, milliseconds(0)},
      {"get stale twice", {.reach = Reach::NoAnswer, .reused_connection = true}, {.resent_stale = true}, What::Resend, milliseconds(1000)},
      {"get cut on a reused connection", {.reach = Reach::Cut, .reused_connection = true}, {}, What::Resend, milliseconds(1000)},
      {"get lost too often", {.reach = Reach::NoAnswer}, {.waited = 10}, What::Return, milliseconds(0)},
      {"post lost", {.method = Method::Post, .reach = Reach::NoAnswer}, {}, What::Return, milliseconds(0)},
      {"post stale", {.method = Method::Post, .reach = Reach::NoAnswer, .reused_connection = true}, {}, What::Return, milliseconds(0)},
      {"apply lost", {.method = Method::Patch, .is_apply = true, .reach = Reach::NoAnswer}, {}, What::Return, milliseconds(0)},
      {"not connected", {.reach = Reach::NotConnected}, {}, What::Return, milliseconds(0)},
      {"get 401", {.status = 401}, {}, What::ResendWithFreshCredentials, milliseconds(0)},
      {"get 401 again", {.status = 401}, {.reauthenticated = true}, What::Return, milliseconds(0)},
      {"apply 401", {.method = Method::Patch, .is_apply = true, .status = 401}, {}, What::ResendWithFreshCredentials, milliseconds(0)},
      {"post 401", {.method = Method::Post, .status = 401}, {}, What::Return, milliseconds(0)},
  };
  for (const Case& one : cases) {
    const RetryStep step = next_step(one.before, one.attempt, 0.0);
    EXPECT_EQ(step.what, one.what) << one.name;
    EXPECT_EQ(step.wait, one.wait) << one.name;
  }
}

TEST(Retry, EndsWhateverTheServerDoes) {
  RetryState state;
  int resends = 0;
  for (; resends < 100; ++resends) {
    const Attempt attempt = resends % 2 == 0 ? Attempt{.reach = Reach::NoAnswer, .reused_connection = true} : Attempt{.status = 429, .retry_after = Seconds(0)};
    const RetryStep step = next_step(state, attempt, 0.99);
    if (step.what == What::Return) break;
    state = step.state;
  }
  EXPECT_EQ(resends, kMostRetries + 1);
}

TEST(Retry, ReadsRetryAfter) {
  const auto now = parse_http_date("Mon, 30 Nov 2026 17:07:09 GMT");
  const std::vector<std::pair<std::string, std::optional<Seconds>>> cases = {
      {"3", Seconds(3)},
      {" 0 ", Seconds(0)},
      {"99999999999999999999999", Seconds(86400)},
      {"Mon, 30 Nov 2026 17:07:39 GMT", Seconds(30)},
      {"Mon, 30 Nov 2026 17:00:00 GMT", Seconds(0)},
      {"", std::nullopt},
      {"-1", std::nullopt},
      {"1.5", std::nullopt},
      {"soon", std::nullopt},
  };
  for (const auto& one : cases) EXPECT_EQ(parse_retry_after(one.first, now), one.second) << one.first;
  EXPECT_EQ(parse_retry_after("Mon, 30 Nov 2026 17:07:39 GMT", std::nullopt), std::nullopt);
}

}  // namespace
}  // namespace verl::kube
