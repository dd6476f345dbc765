#include "node-agent/agent/cluster_agent.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "node-agent/agent/check.h"
#include "node-agent/agent/report_change.h"
#include "tests/unit/host/scratch.h"
#include "tests/unit/node-agent/fake_server.h"

namespace verl::agent {
namespace {

constexpr const char* kReport = "/apis/verl.run/v1alpha1/nodereadinesses/n1/status";
constexpr const char* kLease = "/apis/coordination.k8s.io/v1/namespaces/verl-system/leases/n1";

class ClusterAgentTest : public ::testing::Test {
 protected:
  ClusterAgentTest() {
    tree_.put("/proc/sys/kernel/random/boot_id", "boot-1\n");
    tree_.put("/proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n");
    tree_.put("/proc/sys/net/ipv4/ip_local_reserved_ports", "\n");
    mtu("1500");
    tree_.put("/sys/class/net/eno1/operstate", "up\n");
    tree_.put("/proc/verl-host.json", R"({"time": "2026-01-01T00:00:00Z", "addresses": [{"interface": "eno1", "address": "10.20.0.1"}]})");
    server_.report = FakeServer::fresh_report();
    server_.lease = FakeServer::fresh_lease();
  }
  void mtu(const char* value) { tree_.put("/sys/class/net/eno1/mtu", value); }

  // Rounds for so long, and what was written meanwhile.
  std::vector<std::string> writes_within(Seconds time) {
    server_.writes.clear();
    const auto end = clock_.steady() + time;
    while (true) {
      const auto wait = agent_.round({});
      EXPECT_TRUE(wait) << wait.error().message;
      if (!wait) break;
      const auto step = std::max(*wait, Microseconds(1000));
      if (clock_.steady() + step > end) break;
      clock_.advance(step);
    }
    return server_.writes;
  }
  size_t count(const std::vector<std::string>& writes, const char* path) {
    return static_cast<size_t>(std::count(writes.begin(), writes.end(), path));
  }

  host::Scratch tree_{};
  FakeServer server_{};
  FakeClock clock_{Timestamp(Seconds(1'800'000'000)) + Microseconds(5)};
  std::vector<std::string> log_{};
  HostSource host_{tree_.path()};
  ClusterAgent agent_{server_, [this] { return host_.open(); }, clock_,
                      {.node_name = "n1", .lease_namespace = "verl-system"}, [this](const std::string& line) { log_.push_back(line); }};
};

TEST_F(ClusterAgentTest, PublishesOnceAndThenOnlyRenews) {
  const auto writes = writes_within(Seconds(120));
  EXPECT_EQ(count(writes, kReport), 1u);
  EXPECT_EQ(count(writes, kLease), 5u);  // at 0, 30, 60, 90 and 120 s
  const auto& status = (*server_.report)["status"];
  EXPECT_EQ(status["observedGeneration"], 1);
  EXPECT_EQ(status["nodeUID"], "uid-1");
  EXPECT_EQ(status["bootID"], "boot-1");
  EXPECT_EQ(status["conditions"][0]["type"], "Healthy");
  EXPECT_EQ(status["conditions"].size(), 1u);
  EXPECT_FALSE(status.contains("verdict"));
}

TEST_F(ClusterAgentTest, RefreshesSlowly) { EXPECT_EQ(count(writes_within(Seconds(910)), kReport), 4u); }

TEST_F(ClusterAgentTest, RenewsAtAThirdOfTheLeasesDuration) {
  server_.lease = FakeServer::fresh_lease(30);
  EXPECT_EQ(count(writes_within(Seconds(60)), kLease), 7u);
}

TEST_F(ClusterAgentTest, PublishesAChangeAtTheNextLook) {
  writes_within(Seconds(20));
  mtu("9000");
  EXPECT_EQ(count(writes_within(Seconds(16)), kReport), 1u);
  EXPECT_EQ((*server_.report)["status"]["interfaces"][0]["mtu"], 9000);
}

TEST_F(ClusterAgentTest, JudgesAnewGenerationAtTheNextLook) {
  writes_within(Seconds(20));
  (*server_.report)["metadata"]["generation"] = 2;
  EXPECT_EQ(count(writes_within(Seconds(16)), kReport), 1u);
  EXPECT_EQ((*server_.report)["status"]["observedGeneration"], 2);
}

TEST_F(ClusterAgentTest, ReportsAReboot) {
  writes_within(Seconds(20));
  tree_.put("/proc/sys/kernel/random/boot_id", "boot-2\n");
  writes_within(Seconds(16));
  EXPECT_EQ((*server_.report)["status"]["bootID"], "boot-2");
}

TEST_F(ClusterAgentTest, WaitsWithoutAReportAndDoesNotLookAlive) {
  server_.report.reset();
  EXPECT_TRUE(writes_within(Seconds(60)).empty());
  server_.report = FakeServer::fresh_report();
  EXPECT_EQ(count(writes_within(Seconds(10)), kReport), 1u);
}

TEST_F(ClusterAgentTest, WritesNothingIntoTheReportOfAnEarlierNode) {
  (*server_.report)["spec"]["nodeUID"] = "uid-0";
  EXPECT_TRUE(writes_within(Seconds(60)).empty());
}

TEST_F(ClusterAgentTest, AsksAgainWhoItIsWhenItsNodeWasMadeAnew) {
  writes_within(Seconds(20));
  (*server_.report)["metadata"]["uid"] = "r-2";
  (*server_.report)["spec"]["nodeUID"] = "uid-2";
  EXPECT_EQ(count(writes_within(Seconds(60)), kReport), 0u);
  server_.token_uid = "uid-2";
  EXPECT_EQ(count(writes_within(Seconds(60)), kReport), 1u);
  EXPECT_EQ((*server_.report)["status"]["nodeUID"], "uid-2");
}

TEST_F(ClusterAgentTest, DoesNotJudgeBySpecItCannotRead) {
  (*server_.report)["spec"]["expectations"]["thresholds"]["mtuMin"] = "nine thousand";
  EXPECT_TRUE(writes_within(Seconds(60)).empty());
}

TEST_F(ClusterAgentTest, DoesNotLookAliveWhileItCannotPublish) {
  writes_within(Seconds(20));
  mtu("9000");
  server_.status_code = 403;
  const auto writes = writes_within(Seconds(200));
  EXPECT_EQ(count(writes, kLease), 0u);
  EXPECT_GT(count(writes, kReport), 3u);
  server_.status_code = 200;
  EXPECT_GT(count(writes_within(Seconds(60)), kLease), 0u);
}

TEST_F(ClusterAgentTest, DoesNotLookAliveWhileItCannotLook) {
  writes_within(Seconds(20));
  tree_.put("/proc/verl-host.json", "{");
  EXPECT_TRUE(writes_within(Seconds(100)).empty());
}

TEST_F(ClusterAgentTest, RidesOutAnApiserverThatIsAway) {
  server_.down = true;
  EXPECT_TRUE(writes_within(Seconds(120)).empty());
  server_.down = false;
  const auto writes = writes_within(Seconds(60));
  EXPECT_EQ(count(writes, kReport), 1u);
  EXPECT_GT(count(writes, kLease), 0u);
}

TEST_F(ClusterAgentTest, EndsWithATokenOfAnotherNode) {
  server_.token_node = "n2";
  const auto round = agent_.round({});
  ASSERT_FALSE(round);
  EXPECT_EQ(round.error().message, "this agent's token belongs to a pod on node n2, but NODE_NAME says n1");
}

TEST_F(ClusterAgentTest, EndsWithAnUnboundToken) {
  server_.token_uid.clear();
  EXPECT_EQ(agent_.round({}).error().code, ErrorCode::Denied);
}

TEST_F(ClusterAgentTest, RunEndsWhenAskedTo) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_TRUE(agent_.run(stop.get_token()));
}

TEST(WorthWriting, TremblingFiguresAreNot) {
  api::NodeReadinessStatus status;
  status.findings = {{.check = "clock-error", .verdict = Verdict::Pass, .seen = "within 0.3 ms"}, {.check = "mtu-interface", .verdict = Verdict::Pass, .seen = "9000"}};
  status.clock = {.source = "chronyd", .synchronised = true, .offset = Microseconds(3)};
  api::NodeReadinessStatus other = status;
  other.clock.offset = Microseconds(4);
  other.findings[0].seen = "within 0.4 ms";
  other.observed_at = Timestamp(Seconds(5));
  other.verdict = "Ready";
  EXPECT_FALSE(worth_writing(status, other));
  other.findings[1].seen = "1500";
  EXPECT_TRUE(worth_writing(status, other));
  other = status;
  other.findings[0].verdict = Verdict::Fail;
  EXPECT_TRUE(worth_writing(status, other));
  other = status;
  other.clock.synchronised = false;
  EXPECT_TRUE(worth_writing(status, other));
}

}  // namespace
}  // namespace verl::agent
