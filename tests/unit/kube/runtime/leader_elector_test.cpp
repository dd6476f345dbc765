// Election with real threads over a fake Lease. Real time, so the durations are the shortest that make sense.
#include "kube/runtime/leader_elector.h"

#include <gtest/gtest.h>

#include <thread>

#include "fake_leases.h"

namespace verl::kube {
namespace {

LeaderOptions options_of(std::string identity) {
  return {.name_space = "verl-system", .name = "verl-operator", .identity = std::move(identity),
          .lease_duration = Seconds{3}, .renew_deadline = Seconds{2}, .retry_period = Seconds{1}};
}

// An elector on its thread, with the moments of its life to wait for.
class Candidate {
 public:
  Candidate(FakeLeases& server, const std::string& name)
      : client(server),
        elector(client, clock_, options_of(name),
                {.on_started = [this](const LeaderTerm&) { mark(started_); },
                 .on_lost = [this](std::string_view) { mark(lost_); }}),
        thread_([this](std::stop_token stop) { result_ = elector.run(std::move(stop)); }) {}

  bool starts() { return wait_for(started_); }
  bool loses() { return wait_for(lost_); }
  bool has_started() { return is(started_); }
  bool has_lost() { return is(lost_); }
  bool stop() {
    thread_.request_stop();
    thread_.join();
    return result_;
  }

 private:
  void mark(bool& moment) {
    const std::lock_guard lock(mutex_);
    moment = true;
    changed_.notify_all();
  }
  bool is(const bool& moment) {
    const std::lock_guard lock(mutex_);
    return moment;
  }
  bool wait_for(const bool& moment) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, Seconds{20}, [&] { return moment; });
  }

  SystemClock clock_{};
  std::mutex mutex_{};
  std::condition_variable changed_{};
  bool started_{false};
  bool lost_{false};
  bool result_{false};

 public:
  FakeLeasesClient client;
  LeaderElector elector;

 private:
  std::jthread thread_;
};

TEST(LeaderElector, E8_ACleanReleaseHandsOverAtOnce) {
  FakeLeases server;
  SystemClock clock;
  Candidate first(server, "first");
  ASSERT_TRUE(first.starts());
  EXPECT_TRUE(first.elector.is_leading());
  Candidate second(server, "second");
  EXPECT_FALSE(second.elector.is_leading());
  const Instant stopping = clock.steady();
  EXPECT_TRUE(first.stop());
  EXPECT_LT(clock.steady() - stopping, Seconds{1});
  EXPECT_FALSE(first.has_lost());
  ASSERT_TRUE(second.starts());
  EXPECT_LT(clock.steady() - stopping, Seconds{3}) << "sooner than the lease would have expired";
  EXPECT_TRUE(second.elector.is_leading());
  ASSERT_TRUE(second.elector.term().has_value());
  EXPECT_EQ(second.elector.term()->transitions, 1);
  EXPECT_GT(second.elector.term()->acquired_at, stopping);
  EXPECT_TRUE(second.stop());
  EXPECT_EQ(server.lease()["spec"]["holderIdentity"], "");
}

TEST(LeaderElector, E7_AHungApiserverEndsLeadingWithinTheRenewDeadlineAndAnotherTakesOver) {
  FakeLeases server;
  SystemClock clock;
  Candidate first(server, "first");
  ASSERT_TRUE(first.starts());
  Candidate second(server, "second");
  const Instant hung = clock.steady();
  first.client.hang(true);
  ASSERT_TRUE(first.loses()) << "though its call never returns";
  EXPECT_LT(clock.steady() - hung, std::chrono::milliseconds{2800});
  EXPECT_FALSE(first.elector.is_leading());
  EXPECT_FALSE(second.has_started()) << "the old one is out before the new one is in";
  ASSERT_TRUE(second.starts());
  first.client.hang(false);
  EXPECT_FALSE(first.stop());
  EXPECT_TRUE(second.elector.is_leading());
  for (const auto& write : server.writes()) EXPECT_FALSE(write.holder == "first" && write.transitions > 0) << "it never came back";
}

TEST(LeaderElector, E10_ALateWriteOfTheOldLeaderIsRefusedByItsPrecondition) {
  FakeLeases server;
  // Both believed to lead at once: the old one's request was under way when it froze.
  FakeLeasesClient any(server);
  Candidate old(server, "old");
  ASSERT_TRUE(old.starts());
  const auto stale = server.lease();
  old.client.hang(true);
  Candidate fresh(server, "fresh");
  ASSERT_TRUE(fresh.starts());
  EXPECT_FALSE(old.elector.is_leading()) << "time alone takes its leave to write away";
  const auto late = any.send({.method = Method::Put, .path = "/lease", .body = stale.dump()}, {});
  ASSERT_TRUE(late);
  EXPECT_EQ(late->status, 409);
  EXPECT_EQ(server.lease()["spec"]["holderIdentity"], "fresh");
}

}  // namespace
}  // namespace verl::kube
