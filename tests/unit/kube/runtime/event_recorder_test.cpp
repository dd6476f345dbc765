#include "kube/runtime/event_recorder.h"

#include <gtest/gtest.h>

namespace verl::kube {
namespace {

// Answers with a status per call, then with the last of them; may hold its callers.
class FakeEvents final : public Api {
 public:
  explicit FakeEvents(std::vector<int> statuses) : statuses_(std::move(statuses)) {}

  Result<Reply> send(const Request& request, std::stop_token stop) override {
    std::unique_lock lock(mutex_);
    if (!changed_.wait(lock, stop, [this] { return !held_; })) return failure(ErrorCode::Cancelled, "stopped");
    const char* method = request.method == Method::Post ? "POST " : "PATCH ";
    calls_.push_back(method + request.path);
    const int status = statuses_[std::min(calls_.size(), statuses_.size()) - 1];
    if (status == 0) return failure(ErrorCode::Unavailable, "refused");
    return Reply{.status = status, .body = R"({"kind":"Status","code":)" + std::to_string(status) + R"(,"reason":"R","message":"m"})"};
  }
  Result<bool> stream(const Request&, StreamSink&, std::stop_token) override { return failure(ErrorCode::Invalid, "events are not watched"); }

  void hold(bool on) {
    const std::lock_guard lock(mutex_);
    held_ = on;
    changed_.notify_all();
  }
  std::vector<std::string> methods() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> all;
    for (const auto& call : calls_) all.push_back(call.substr(0, call.find(' ')));
    return all;
  }
  std::vector<std::string> calls() const {
    const std::lock_guard lock(mutex_);
    return calls_;
  }

 private:
  std::vector<int> statuses_;
  mutable std::mutex mutex_{};
  std::condition_variable_any changed_{};
  bool held_{false};
  std::vector<std::string> calls_{};
};

EventNote note_of(const std::string& text) {
  return {.regarding = {.api_version = "verl.run/v1alpha1", .kind = "VerlJob", .name_space = "rl", .name = "qwen", .uid = "u"},
          .reason = "Placed", .action = "Placed", .note = text};
}
const EventSource kSource{"verl.run/operator", "op-0"};
const EventRecorderOptions kQuick{.queue = 5, .tries = 12, .retry_after = Microseconds{500}};
using Texts = std::vector<std::string>;

bool reaches(const EventRecorder& recorder, std::uint64_t EventCounts::*count, std::uint64_t wanted) {
  const auto deadline = std::chrono::steady_clock::now() + Seconds{20};
  while (recorder.counts().*count < wanted) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

TEST(EventRecorder, WritesARepeatAsASeries) {
  FakeEvents api({201, 200});
  SystemClock clock;
  EventRecorder recorder(api, clock, kSource);
  for (int i = 0; i < 3; ++i) recorder.record(note_of("same"));
  ASSERT_TRUE(recorder.flush(Seconds{10}));
  EXPECT_EQ(api.methods(), (Texts{"POST", "PATCH"}));
  EXPECT_EQ(api.calls()[0], "POST /apis/events.k8s.io/v1/namespaces/rl/events");
  EXPECT_EQ(recorder.counts(), (EventCounts{.told = 3, .written = 2}));
}

TEST(EventRecorder, ASeriesWhoseEventExpiredBeginsAgain) {
  FakeEvents api({201, 404, 201});
  SystemClock clock;
  EventRecorder recorder(api, clock, kSource);
  recorder.record(note_of("same"));
  recorder.record(note_of("same"));
  ASSERT_TRUE(recorder.flush(Seconds{10}));
  EXPECT_EQ(api.methods(), (Texts{"POST", "PATCH", "POST"}));
}

TEST(EventRecorder, NeverBlocksAndCountsWhatItDrops) {
  FakeEvents api({201});
  api.hold(true);
  SystemClock clock;
  EventRecorder recorder(api, clock, kSource, kQuick);
  int taken = 0;
  for (int i = 0; i < 100; ++i) taken += recorder.record(note_of(std::to_string(i))) ? 1 : 0;
  EXPECT_GE(taken, 5);
  EXPECT_LE(taken, 6) << "five in the queue, one in the hands of the thread";
  EXPECT_EQ(recorder.counts().dropped, static_cast<std::uint64_t>(100 - taken));
  EXPECT_FALSE(recorder.flush(Microseconds{1000}));
  api.hold(false);
  EXPECT_TRUE(recorder.flush(Seconds{10}));
}

TEST(EventRecorder, GivesUpAfterTwelveTries) {
  FakeEvents api({0, 503, 429, 500});
  SystemClock clock;
  std::vector<std::string> log;
  EventRecorder recorder(api, clock, kSource, kQuick, [&](std::string_view line) { log.emplace_back(line); });
  recorder.record(note_of("a"));
  ASSERT_TRUE(reaches(recorder, &EventCounts::given_up, 1));
  EXPECT_EQ(api.methods().size(), 12U);
}

TEST(EventRecorder, ARefusalForGoodIsNotRepeatedAndACollisionIsSuccess) {
  FakeEvents api({403, 409, 422, 404, 201});
  SystemClock clock;
  EventRecorder recorder(api, clock, kSource, kQuick);
  for (const char* text : {"a", "b", "c", "d", "e"}) recorder.record(note_of(text));
  ASSERT_TRUE(recorder.flush(Seconds{10}));
  EXPECT_EQ(recorder.counts(), (EventCounts{.told = 5, .written = 2, .refused = 3}));
}

TEST(EventRecorder, OthersGoOnWhileOneWaitsForItsNextTry) {
  FakeEvents api({503, 201});
  SystemClock clock;
  EventRecorder recorder(api, clock, kSource, {.retry_after = std::chrono::hours{1}});
  recorder.record(note_of("a"));
  recorder.record(note_of("b"));
  ASSERT_TRUE(reaches(recorder, &EventCounts::written, 1));
}

TEST(EventRecorder, StopsWhileACallHangs) {
  FakeEvents api({201});
  api.hold(true);
  SystemClock clock;
  const Instant start = clock.steady();
  {
    EventRecorder recorder(api, clock, kSource);
    recorder.record(note_of("a"));
  }
  EXPECT_LT(clock.steady() - start, Seconds{1});
}

}  // namespace
}  // namespace verl::kube
