#include "kube/protocol/backoff.h"

#include <gtest/gtest.h>

namespace verl::kube {
namespace {

using std::chrono::milliseconds;

TEST(Backoff, B1_JitterAddsUpToTheWholeDelay) {
  const BackoffPolicy policy;
  EXPECT_EQ(next_delay(policy, {}, Instant{}, 0.0).delay, milliseconds{800});
  EXPECT_EQ(next_delay(policy, {}, Instant{}, 0.5).delay, milliseconds{1200});
  EXPECT_EQ(next_delay(policy, {.step = Seconds{30}, .waited_until = Instant{}}, Instant{}, 0.5).delay, Seconds{45});
}

TEST(Backoff, B1_StartsAgainAfterTwoMinutesWithoutWaiting) {
  const BackoffPolicy policy;
  const Instant start{std::chrono::hours{1}};
  const auto first = next_delay(policy, {}, start, 0);
  const Instant end = start + first.delay;
  EXPECT_EQ(next_delay(policy, first.state, end + std::chrono::minutes{2}, 0).delay, milliseconds{1600});
  EXPECT_EQ(next_delay(policy, first.state, end + std::chrono::minutes{2} + milliseconds{1}, 0).delay, milliseconds{800});
}

}  // namespace
}  // namespace verl::kube
