// When the loop may begin, and how it treats an apiserver that refuses its writes. What it decides is in the core's tests.
#include "operator/controller/loop.h"

#include <gtest/gtest.h>

#include <thread>

#include "fake_cluster.h"

namespace verl::controller {
namespace {

using namespace std::chrono_literals;
using testing::CacheBench;
using testing::FakeCluster;
using testing::refusal;

constexpr Timestamp kNow{Seconds{1'796'000'000}};

// A job without a spec: its status is written as Failed.
const std::string kJob = R"({"kind":"VerlJob","apiVersion":"verl.run/v1alpha1","metadata":{"namespace":"rl","name":"qwen","uid":"u","resourceVersion":"3","generation":1}})";

struct Bench {
  CacheBench caches{};
  FakeCluster event_server{};
  const TokenKey key{TokenKey::from_text(std::string(32, 'k')).value()};
  kube::EventRecorder events{event_server, caches.clock, {.controller = "verl.run/operator", .instance = "i"}};
  ServerTime time{caches.clock};
  telemetry::Metrics metrics{};
  Executor executor{{.api = caches.cluster, .caches = caches.caches, .events = events, .key = key, .may_write = [] { return true; }, .name_space = "verl-system"}};
  Loop loop{{.caches = caches.caches, .executor = executor, .time = time, .clock = caches.clock, .metrics = metrics, .may_write = [] { return true; }}};
  std::jthread thread{};

  Bench() {
    event_server.answer([](const kube::Request& request) { return kube::Reply{.status = 201, .body = request.body}; });
    caches.cluster.hold("/apis/verl.run/v1alpha1/verljobs", {kJob});
    caches.cluster.answer([](const kube::Request&) { return refusal(429, "TooManyRequests", "please try again later"); });
  }
  ~Bench() { thread = {}; }

  kube::Instant start() {
    const auto acquired = caches.clock.steady();
    EXPECT_TRUE(caches.start());
    thread = std::jthread([this, acquired](std::stop_token stop) { loop.run(acquired, stop); });
    return acquired;
  }
  bool wait_for_writes(std::size_t count) {
    return caches.cluster.wait_for([&](const std::vector<std::string>& asked) { return asked.size() >= count; });
  }
};

TEST(Loop, DecidesNothingBeforeItKnowsTheTimeAndAllThatAnEarlierLeaderWrote) {
  Bench bench;
  const auto acquired = bench.start();
  EXPECT_TRUE(bench.caches.eventually([&] { return bench.caches.caches.fresh_since(acquired); }));
  EXPECT_TRUE(bench.caches.cluster.asked().empty()) << "without the apiserver's time nothing is planned";
  bench.time.saw(kNow);
  bench.loop.wake();
  EXPECT_TRUE(bench.wait_for_writes(1));
}

TEST(Loop, EventsDoNotCutShortThePauseAfterAFailedWrite) {
  Bench bench;
  bench.time.saw(kNow);
  bench.start();
  ASSERT_TRUE(bench.wait_for_writes(1));
  for (int i = 0; i < 1000; ++i) bench.loop.wake();
  ASSERT_TRUE(bench.wait_for_writes(2));
  const auto times = bench.caches.cluster.times();
  EXPECT_GE(times[1] - times[0], 950ms);
}

TEST(Loop, AStopEndsThePauseAfterAFailedWrite) {
  Bench bench;
  bench.time.saw(kNow);
  bench.start();
  ASSERT_TRUE(bench.wait_for_writes(2));  // the pause is two seconds now
  const auto began = std::chrono::steady_clock::now();
  bench.thread = {};
  EXPECT_LT(std::chrono::steady_clock::now() - began, 1500ms);
}

TEST(JobBackoff, DoublesPerJobUpToSixteenSecondsAndForgetsOnSuccess) {
  JobBackoff backoff;
  const kube::Instant now{};
  std::vector<Seconds> waits;
  for (int i = 0; i < 6; ++i) {
    backoff.failed("a", now);
    waits.push_back(std::chrono::duration_cast<Seconds>(backoff.left("a", now)));
  }
  EXPECT_EQ(waits, (std::vector<Seconds>{1s, 2s, 4s, 8s, 16s, 16s}));
  EXPECT_EQ(backoff.left("a", now + 16s).count(), 0);
  EXPECT_EQ(backoff.left("b", now).count(), 0) << "others go on";
  backoff.went_well("a");
  EXPECT_EQ(backoff.left("a", now).count(), 0);
}

}  // namespace
}  // namespace verl::controller
