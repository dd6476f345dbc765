#include "kube/runtime/work_queue.h"

#include <gtest/gtest.h>

#include <map>

namespace verl::kube {
namespace {

// Opens once; everybody who waits goes on.
class Gate {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  bool wait() {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, Seconds{20}, [this] { return open_; });
  }

 private:
  std::mutex mutex_{};
  std::condition_variable changed_{};
  bool open_{false};
};

TEST(WorkQueue, Q1_AHundredAddsDuringWorkAreOneMoreRun) {
  SystemClock clock;
  WorkQueue queue(clock);
  Gate working;
  Gate added;
  Gate twice;
  std::mutex mutex;
  int runs = 0;
  {
    Workers workers(queue, 2, [&](const std::string&, std::stop_token) {
      working.open();
      added.wait();
      const std::lock_guard lock(mutex);
      if (++runs == 2) twice.open();
      return WorkResult::done();
    });
    queue.add("a");
    ASSERT_TRUE(working.wait());
    for (int i = 0; i < 100; ++i) queue.add("a");
    added.open();
    ASSERT_TRUE(twice.wait());
  }
  EXPECT_EQ(runs, 2);
  EXPECT_EQ(queue.counts(), WorkQueue::Counts{});
}

TEST(WorkQueue, Q2_AFailedKeyComesAgainAndSuccessForgets) {
  SystemClock clock;
  WorkQueue queue(clock);
  Gate done;
  int runs = 0;
  {
    Workers workers(queue, 2, [&](const std::string&, std::stop_token) {
      if (++runs < 4) return WorkResult::failed();  // one key: never two at a time
      done.open();
      return WorkResult::done();
    });
    queue.add("a");
    ASSERT_TRUE(done.wait());
  }
  EXPECT_EQ(runs, 4);
}

TEST(WorkQueue, Q3_OneSlowKeyDoesNotHoldUpTheOthers) {
  SystemClock clock;
  WorkQueue queue(clock);
  Gate others_done;
  std::mutex mutex;
  int others = 0;
  bool slow_saw_them = false;
  {
    Workers workers(queue, 1, [&](const std::string& key, std::stop_token) {
      if (key == "slow") {
        slow_saw_them = others_done.wait();
        return WorkResult::done();
      }
      const std::lock_guard lock(mutex);
      if (++others == 9) others_done.open();
      return WorkResult::done();
    });
    queue.add("slow");
    for (int i = 0; i < 9; ++i) queue.add("key" + std::to_string(i));
    ASSERT_TRUE(others_done.wait());
  }
  EXPECT_TRUE(slow_saw_them) << "nine keys were worked on while one was held";
}

TEST(WorkQueue, ADelayedKeyWakesAWaitingWorker) {
  SystemClock clock;
  WorkQueue queue(clock);
  Gate again;
  int runs = 0;
  Workers workers(queue, 2, [&](const std::string&, std::stop_token) {
    if (++runs == 1) return WorkResult::again(std::chrono::milliseconds{20});
    again.open();
    return WorkResult::done();
  });
  queue.add_after("a", std::chrono::milliseconds{10});
  EXPECT_TRUE(again.wait());
}

TEST(WorkQueue, StopEndsEveryTakeAndRefusesAdds) {
  SystemClock clock;
  WorkQueue queue(clock);
  queue.add("a");
  queue.stop();
  EXPECT_EQ(queue.take({}), std::nullopt);
  EXPECT_FALSE(queue.add("b"));
}

}  // namespace
}  // namespace verl::kube
