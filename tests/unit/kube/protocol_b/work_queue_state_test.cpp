#include "kube/protocol/work_queue_state.h"

#include <gtest/gtest.h>

namespace verl::kube {
namespace {

using std::chrono::milliseconds;
const Instant kStart{std::chrono::hours{1}};

TEST(WorkQueue, Q1_AKeyAddedAHundredTimesWhileItIsWorkedOnRunsOnceMore) {
  WorkQueueState queue;
  queue.add("a");
  ASSERT_EQ(queue.take(kStart), "a");
  for (int i = 0; i < 100; ++i) queue.add("a");
  EXPECT_EQ(queue.take(kStart), std::nullopt) << "one worker a key";
  queue.done("a");
  EXPECT_EQ(queue.take(kStart), "a");
  queue.done("a");
  EXPECT_EQ(queue.take(kStart), std::nullopt);
}

TEST(WorkQueue, Q1_AWaitingKeyIsThereOnce) {
  WorkQueueState queue;
  for (int i = 0; i < 100; ++i) queue.add("a");
  queue.add("b");
  EXPECT_EQ(queue.take(kStart), "a");
  EXPECT_EQ(queue.take(kStart), "b");
  EXPECT_EQ(queue.take(kStart), std::nullopt);
}

TEST(WorkQueue, Q2_AFailingKeyWaitsTwiceAsLongEachTime) {
  WorkQueueState queue;
  std::vector<Microseconds> delays;
  Instant now = kStart;
  for (int i = 0; i < 19; ++i) {
    delays.push_back(queue.add_failed("a", now));
    now += delays.back();
    ASSERT_EQ(queue.take(now - Microseconds{1}), std::nullopt);
    ASSERT_EQ(queue.take(now), "a");
    queue.done("a");
  }
  EXPECT_EQ(delays[0], milliseconds{5});
  EXPECT_EQ(delays[1], milliseconds{10});
  EXPECT_EQ(delays[10], milliseconds{5120});
  EXPECT_EQ(delays[17], milliseconds{655360});
  EXPECT_EQ(delays[18], Seconds{1000});
  queue.forget("a");
  EXPECT_EQ(queue.add_failed("a", now), milliseconds{5}) << "success resets";
}

TEST(WorkQueue, Q2_AllKeysTogetherHaveABurstOfAHundredAndTenASecond) {
  WorkQueueState queue;
  for (int i = 0; i < 100; ++i) EXPECT_EQ(queue.add_failed(std::to_string(i), kStart), milliseconds{5});
  EXPECT_EQ(queue.add_failed("100", kStart), milliseconds{100});
  EXPECT_EQ(queue.add_failed("101", kStart), milliseconds{200});
  EXPECT_EQ(queue.add_failed("102", kStart + Seconds{1}), milliseconds{5}) << "a second later ten more are free";
}

TEST(WorkQueue, ADelayedKeyComesWhenItIsDueAndTheEarliestDueCounts) {
  WorkQueueState queue;
  queue.add_at("a", kStart + Seconds{10});
  queue.add_at("a", kStart + Seconds{5});
  queue.add_at("a", kStart + Seconds{20});
  EXPECT_EQ(queue.next_due(), kStart + Seconds{5});
  EXPECT_EQ(queue.take(kStart + Seconds{4}), std::nullopt);
  EXPECT_EQ(queue.take(kStart + Seconds{5}), "a");
  EXPECT_EQ(queue.next_due(), std::nullopt);
}

TEST(WorkQueue, AFullQueueDropsNewKeysAndCountsThem) {
  WorkQueueState queue(WorkQueueOptions{.capacity = 2});
  EXPECT_TRUE(queue.add("a"));
  EXPECT_TRUE(queue.add_at("b", kStart + Seconds{1}));
  EXPECT_FALSE(queue.add("c"));
  EXPECT_FALSE(queue.add_at("d", kStart));
  EXPECT_TRUE(queue.add("a")) << "it is there already";
  EXPECT_TRUE(queue.add("b")) << "so is this one";
  EXPECT_EQ(queue.dropped(), 2U);
}

}  // namespace
}  // namespace verl::kube
