// The agent's figures against Debian's chronyd and chronyc, run by with-chronyd.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>

#include "base/text.h"
#include "diagnosis/time/chrony.h"
#include "host/live_host.h"
#include "node-agent/checks/judge.h"
#include "node-agent/checks/observe.h"

namespace verl::agent {
namespace {

constexpr std::uint16_t kServer = 11323;
constexpr std::uint16_t kClient = 11324;
constexpr std::uint16_t kLonely = 11325;
constexpr std::uint16_t kNobody = 11999;

std::unique_ptr<host::Host> host_at(std::uint16_t port, std::string socket = {}) {
  auto host = host::live_host({.root = "/", .chronyd_socket = std::move(socket), .chronyd_port = port});
  return host ? std::move(*host) : nullptr;
}

std::vector<std::string> chronyc_tracking(std::uint16_t port) {
  const std::string command = "chronyc -c -n -h 127.0.0.1 -p " + std::to_string(port) + " tracking";
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(::popen(command.c_str(), "r"), &::pclose);
  std::array<char, 1024> line{};
  if (!pipe || std::fgets(line.data(), line.size(), pipe.get()) == nullptr) return {};
  std::vector<std::string> fields;
  for (const std::string_view field : split(trim(line.data()), ',')) fields.emplace_back(field);
  return fields;
}

// Until it holds, or a minute is over: chronyd polls once a second.
template <class Condition>
bool eventually(Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return true;
}

Finding clock_sync(const host::Host& host) {
  Observation observation;
  observation.time = observe_time(host);
  const api::NodeReadinessSpec spec;
  return judge_time({.observation = observation, .spec = spec, .before = nullptr}).front();
}

// For figures that move from one look to the next: chronyc asked between our two looks, and prints nanoseconds.
void expect_between(double seen, double before, double after) {
  EXPECT_GE(seen, std::min(before, after) - 2e-9);
  EXPECT_LE(seen, std::max(before, after) + 2e-9);
}

void same_as_chronyc(const host::Host& host) {
  // Between two looks a poll may come in: compare only figures of the same update.
  ASSERT_TRUE(eventually([&] {
    const auto before = observe_time(host);
    const auto fields = chronyc_tracking(kClient);
    const auto after = observe_time(host);
    if (!before.daemon || !after.daemon || fields.size() != 14) return false;
    const chrony::Tracking& ours = before.daemon->tracking;
    if (ours.reference_time != after.daemon->tracking.reference_time || fields[13] != "Normal") return false;
    char reference_id[16];
    std::snprintf(reference_id, sizeof reference_id, "%08X", ours.reference_id);
    EXPECT_EQ(fields[0], reference_id);
    EXPECT_EQ(fields[1], ours.reference);
    EXPECT_EQ(fields[2], std::to_string(ours.stratum));
    EXPECT_NEAR(std::stod(fields[3]), static_cast<double>(ours.reference_time.time_since_epoch().count()) / 1e6, 1e-5);
    expect_between(std::stod(fields[4]), ours.current_correction, after.daemon->tracking.current_correction);
    EXPECT_NEAR(std::stod(fields[5]), ours.last_offset, 2e-9);
    EXPECT_NEAR(std::stod(fields[6]), ours.rms_offset, 2e-9);
    EXPECT_NEAR(std::stod(fields[7]), ours.frequency_ppm, 1e-3);
    EXPECT_NEAR(std::stod(fields[8]), ours.residual_ppm, 1e-3);
    EXPECT_NEAR(std::stod(fields[9]), ours.skew_ppm, 1e-3);
    EXPECT_NEAR(std::stod(fields[10]), ours.root_delay, 2e-9);
    expect_between(std::stod(fields[11]), ours.root_dispersion, after.daemon->tracking.root_dispersion);
    EXPECT_NEAR(std::stod(fields[12]), ours.update_interval, 0.06);
    EXPECT_EQ(ours.leap, chrony::Leap::Normal);
    return true;
  }));
}

// One after the other: the last test stops the server.
TEST(Chronyd, FiguresAreThoseOfChronyc) {
  const auto host = host_at(kClient);
  ASSERT_NE(host, nullptr);
  ASSERT_TRUE(eventually([&] { return clock_sync(*host).verdict == Verdict::Pass; })) << clock_sync(*host).seen;
  same_as_chronyc(*host);
  const auto time = observe_time(*host);
  ASSERT_TRUE(time.daemon);
  ASSERT_EQ(time.daemon->sources.size(), 1u);
  EXPECT_EQ(time.daemon->sources[0].address, "127.0.0.1");
  EXPECT_EQ(time.daemon->sources[0].stratum, 5);
  EXPECT_EQ(time.daemon->sources[0].state, chrony::SourceState::Selected);
}

TEST(Chronyd, AnswersOverItsSocketAsWell) {
  const char* socket = std::getenv("VERL_CHRONY_SOCKET");
  ASSERT_NE(socket, nullptr) << "run by tests/agent/with-chronyd";
  const auto host = host_at(kNobody, socket);
  ASSERT_NE(host, nullptr);
  same_as_chronyc(*host);
}

TEST(Chronyd, ThatFollowsItsOwnClockFails) {
  const auto host = host_at(kServer);
  ASSERT_TRUE(eventually([&] { return clock_sync(*host).seen == "chronyd: follows only its own clock (reference 7F7F0101)"; }));
  EXPECT_EQ(clock_sync(*host).verdict, Verdict::Fail);
}

TEST(Chronyd, WithoutASourceFails) {
  const auto host = host_at(kLonely);
  const Finding finding = clock_sync(*host);
  EXPECT_EQ(finding.verdict, Verdict::Fail);
  EXPECT_EQ(finding.seen, "chronyd: not synchronised, no source configured");
}

TEST(Chronyd, ThatIsNotThereNeverPasses) {
  const auto host = host_at(kNobody);
  const auto time = observe_time(*host);
  EXPECT_TRUE(time.daemon_absent);
  const Finding finding = clock_sync(*host);
  EXPECT_TRUE(finding.verdict == Verdict::Unknown || finding.verdict == Verdict::Fail) << finding.seen;
}

TEST(Chronyd, WhoseServerDiedFailsThoughLeapStaysNormal) {
  const char* pid = std::getenv("VERL_CHRONY_SERVER_PID");
  ASSERT_NE(pid, nullptr) << "run by tests/agent/with-chronyd";
  const auto host = host_at(kClient);
  ASSERT_EQ(::kill(std::stoi(pid), SIGKILL), 0);
  ASSERT_TRUE(eventually([&] { return clock_sync(*host).verdict == Verdict::Fail; })) << clock_sync(*host).seen;
  const auto time = observe_time(*host);
  ASSERT_TRUE(time.daemon);
  EXPECT_EQ(time.daemon->tracking.leap, chrony::Leap::Normal);
  EXPECT_NE(time.daemon->tracking.reference_id, 0u);
}

}  // namespace
}  // namespace verl::agent
