#include "operator/controller/server_time.h"

#include <gtest/gtest.h>

namespace verl::controller {
namespace {

using namespace std::chrono_literals;

constexpr Timestamp kNoon{Seconds{1'796'000'000}};

struct Bench {
  FakeClock clock{kNoon + std::chrono::hours{5}};  // its wall clock says nothing
  ServerTime time{clock};
  void see(Timestamp date, int times = 1) {
    for (int i = 0; i < times; ++i) time.saw(date);
  }
};

TEST(ServerTime, IsUnknownBeforeTheFirstDate) { EXPECT_EQ(Bench().time.now(), std::nullopt); }

TEST(ServerTime, GoesOnBetweenDates) {
  Bench bench;
  bench.see(kNoon);
  EXPECT_EQ(bench.time.now(), kNoon);
  bench.clock.advance(2500ms);
  EXPECT_EQ(bench.time.now(), kNoon + 2500ms);
}

TEST(ServerTime, AYoungerDateMovesItOnAndAnOlderOneNeverBack) {
  Bench bench;
  bench.see(kNoon);
  bench.see(kNoon + 2s);
  EXPECT_EQ(bench.time.now(), kNoon + 2s);
  bench.see(kNoon);  // an answer that was long under way
  bench.see(kNoon - 2s, 20);
  EXPECT_EQ(bench.time.now(), kNoon + 2s);
}

TEST(ServerTime, AStrayIsIgnoredInBothDirections) {
  for (const Seconds off : {Seconds{3600}, Seconds{-3600}, Seconds{6}, Seconds{-6}}) {
    Bench bench;
    bench.see(kNoon);
    bench.see(kNoon + off, 7);
    EXPECT_EQ(bench.time.now(), kNoon) << off.count();
  }
}

TEST(ServerTime, ManyInARowThatSayTheSameAreBelievedEvenBackwards) {
  for (const Seconds off : {Seconds{3600}, Seconds{-3600}}) {
    Bench bench;
    bench.see(kNoon);
    for (int i = 0; i < 8; ++i) {
      bench.clock.advance(1s);
      bench.see(kNoon + off + Seconds{i + 1});
    }
    EXPECT_EQ(bench.time.now(), kNoon + off + 8s);
  }
}

TEST(ServerTime, OneThatFitsBeginsTheCountAgain) {
  Bench bench;
  bench.see(kNoon);
  bench.see(kNoon + 1h, 7);
  bench.see(kNoon);
  bench.see(kNoon + 1h, 7);
  EXPECT_EQ(bench.time.now(), kNoon);
}

TEST(ServerTime, StraysThatContradictEachOtherConvinceNobody) {
  Bench bench;
  bench.see(kNoon);
  for (int i = 1; i <= 40; ++i) bench.see(kNoon + Seconds{3600 * i});
  EXPECT_EQ(bench.time.now(), kNoon);
}

class OneReply final : public kube::Api {
 public:
  Result<kube::Reply> send(const kube::Request&, std::stop_token) override { return reply; }
  Result<bool> stream(const kube::Request&, kube::StreamSink&, std::stop_token) override { return true; }
  Result<kube::Reply> reply{kube::Reply{}};
};

TEST(ServerTime, OnlyAnAnswerOfTheApiserverItselfTellsTheTime) {
  Bench bench;
  OneReply inner;
  TimedApi api(inner, bench.time);
  const auto ask = [&](Result<kube::Reply> reply) {
    inner.reply = std::move(reply);
    EXPECT_EQ(api.send({}, {}).has_value(), inner.reply.has_value());
  };
  ask(failure(ErrorCode::Unavailable, "refused"));
  ask(kube::Reply{.status = 200});
  ask(kube::Reply{.status = 502, .date = kNoon});  // a proxy's own page
  ask(kube::Reply{.status = 403, .date = kNoon});
  EXPECT_EQ(bench.time.now(), std::nullopt);
  ask(kube::Reply{.status = 201, .date = kNoon});
  EXPECT_EQ(bench.time.now(), kNoon);
}

}  // namespace
}  // namespace verl::controller
