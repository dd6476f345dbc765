#include "diagnosis/time/clock.h"

#include <gtest/gtest.h>

namespace verl::clock {
namespace {

constexpr Timestamp kNow{Seconds(1'700'000'000)};

// Synchronised 20 s ago to one source polled every 64 s.
Daemon healthy() {
  Daemon daemon;
  daemon.tracking.reference_id = 0x0A000001;
  daemon.tracking.reference = "10.0.0.1";
  daemon.tracking.stratum = 3;
  daemon.tracking.leap = chrony::Leap::Normal;
  daemon.tracking.reference_time = kNow - Seconds(20);
  daemon.tracking.current_correction = -0.002;  // the clock is 2 ms fast
  daemon.tracking.root_delay = 0.004;
  daemon.tracking.root_dispersion = 0.001;
  daemon.sources.push_back({.address = "10.0.0.1", .poll = 6, .stratum = 2, .state = chrony::SourceState::Selected, .reach = 0xFF});
  return daemon;
}

TEST(Clock, IsSynchronisedWithinOffsetDispersionAndHalfTheDelay) {
  const Judgement seen = judge_daemon(healthy(), kNow);
  EXPECT_EQ(seen.state, State::Synchronised);
  EXPECT_EQ(seen.offset, Microseconds(2000));
  EXPECT_EQ(seen.bound, Microseconds(5000));
  EXPECT_EQ(seen.reference, "10.0.0.1");
}

TEST(Clock, JudgesWhatADaemonSays) {
  struct Row {
    const char* what;
    void (*change)(Daemon&);
    State wanted;
  };
  const Row rows[] = {
      {"leap says unsynchronised", [](Daemon& d) { d.tracking.leap = chrony::Leap::Unsynchronised; }, State::Unsynchronised},
      {"no reference", [](Daemon& d) { d.tracking.reference_id = 0; }, State::Unsynchronised},
      {"its own clock", [](Daemon& d) { d.tracking.reference_id = chrony::kLocalReference; }, State::LocalOnly},
      {"server died: leap normal, dispersion tiny, reach 0", [](Daemon& d) { d.sources[0].reach = 0; }, State::Lost},
      {"no source at all", [](Daemon& d) { d.sources.clear(); }, State::Lost},
      {"updated just within 8 polls", [](Daemon& d) { d.tracking.reference_time = kNow - Seconds(512); }, State::Synchronised},
      {"updated before that", [](Daemon& d) { d.tracking.reference_time = kNow - Seconds(513); }, State::Lost},
      {"fast polls", [](Daemon& d) { d.sources[0].poll = 0; }, State::Lost},
      {"another source still answers", [](Daemon& d) { d.sources.push_back({.poll = 6, .reach = 1}); d.sources[0].reach = 0; }, State::Synchronised},
      {"updated in the future", [](Daemon& d) { d.tracking.reference_time = kNow + Seconds(3600); }, State::Unknown},
      {"nonsense", [](Daemon& d) { d.tracking.root_dispersion = -1; }, State::Unknown},
      {"a leap second to come", [](Daemon& d) { d.tracking.leap = chrony::Leap::InsertSecond; }, State::Synchronised},
      {"an absurd poll", [](Daemon& d) { d.sources[0].poll = 32000; d.tracking.reference_time = kNow - Seconds(1000); }, State::Synchronised},
  };
  for (const Row& row : rows) {
    Daemon daemon = healthy();
    row.change(daemon);
    const Judgement seen = judge_daemon(daemon, kNow);
    EXPECT_EQ(static_cast<int>(seen.state), static_cast<int>(row.wanted)) << row.what << ": " << seen.evidence;
    EXPECT_EQ(seen.bound.has_value(), row.wanted == State::Synchronised) << row.what;
  }
}

TEST(Clock, KernelAloneProvesAtMostThatItIsNotUnsynchronised) {
  EXPECT_EQ(judge_kernel({.state = 5, .status = 0x40, .max_error = Microseconds(16'000'000)}).state, State::Unsynchronised);
  EXPECT_EQ(judge_kernel({.state = 5, .status = 0x40, .max_error = Microseconds(1'000)}).state, State::KernelOnly);
  EXPECT_EQ(judge_kernel({.state = 0, .status = 0, .max_error = Microseconds(15'999'999)}).state, State::KernelOnly);
  EXPECT_EQ(judge_kernel({.state = 0, .status = 0, .max_error = Microseconds(-1)}).state, State::Unknown);
}

}  // namespace
}  // namespace verl::clock
