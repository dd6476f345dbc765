// Whether a node may take a job: policies, reports that can be believed, findings and comparisons.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "api/check_catalogue.h"
#include "builders.h"

namespace verl::core::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string verdict(const World& world, const std::string& node = "n00") {
  const auto verdicts = judge_nodes(snapshot(world));
  const auto found = verdicts.find(node);
  return found == verdicts.end() ? "none" : fmt::format("{}/{}", to_string(found->second.word), found->second.reason);
}

NodeVerdict full_verdict(const World& world, const std::string& node = "n00") { return judge_nodes(snapshot(world)).at(node); }

// The node holds a job: its agent was asked an hour ago to renew every ten seconds.
void busy(World& world, Seconds age) {
  api::Heartbeat& heartbeat = world.heartbeats["n00"];
  heartbeat.duration = Seconds{30};
  heartbeat.asked = world.now - Seconds{3600};
  heartbeat.renewed = world.now - age;
  world.ages["n00"] = age;
}

struct Case {
  const char* what;
  std::function<void(World&)> spoil;
  const char* verdict;
};

TEST(Readiness, UnknownIsNeverReady) {
  const std::vector<Case> table{
      {"all is well", [](World&) {}, "Ready/Ready"},
      {"no policy", [](World& w) { w.policies.clear(); }, "Unknown/NoPolicy"},
      {"a policy for others", [](World& w) { w.policies["p"].spec.node_selector.match_labels = {{"kind", "x"}}; }, "Unknown/NoPolicy"},
      {"an operator nobody knows", [](World& w) { w.policies["p"].spec.node_selector.match_expressions = {{.key = "rack", .op = "Near"}}; }, "Unknown/NoPolicy"},
      {"two policies of one priority", [](World& w) { w.policies["q"] = w.policies["p"]; w.policies["q"].meta.name = "q"; }, "Unknown/PolicyConflict"},
      {"a policy that cannot be read", [](World& w) { w.policies["p"].unreadable = {"spec.thresholds"}; }, "Unknown/PolicyUnreadable"},
      {"no report", [](World& w) { w.reports.erase("n00"); }, "Unknown/NoReport"},
      {"an empty report", [](World& w) { w.reports["n00"].status = {}; }, "Unknown/NoReport"},
      {"a report that cannot be read", [](World& w) { w.reports["n00"].unreadable = {"status.findings"}; }, "Unknown/ReportUnreadable"},
      {"another generation", [](World& w) { w.reports["n00"].meta.generation = 2; }, "Unknown/ReportOutdated"},
      {"a generation from the future", [](World& w) { w.reports["n00"].status.observed_generation = 2; }, "Unknown/ReportOutdated"},
      {"the policy has moved on", [](World& w) { w.policies["p"].meta.generation = 2; }, "Unknown/ReportOutdated"},
      {"another machine (asked)", [](World& w) { w.reports["n00"].spec.node_uid = "x"; }, "Unknown/ReportOutdated"},
      {"another machine (judged)", [](World& w) { w.reports["n00"].status.node_uid = "x"; }, "Unknown/ReportOutdated"},
      {"another boot", [](World& w) { w.nodes["n00"].boot_id = "x"; }, "Unknown/ReportOutdated"},
      {"no boot id anywhere", [](World& w) { w.nodes["n00"].boot_id = ""; w.reports["n00"].status.boot_id = ""; }, "Unknown/ReportOutdated"},
      {"never heard of", [](World& w) { w.ages.erase("n00"); }, "Unknown/AgentSilent"},
      {"three renewals ago", [](World& w) { w.ages["n00"] = Seconds{90}; }, "Ready/Ready"},
      {"a second more", [](World& w) { w.ages["n00"] = Seconds{91}; }, "Unknown/AgentSilent"},
      {"a busy node, three of its renewals ago", [](World& w) { busy(w, Seconds{30}); }, "Ready/Ready"},
      {"a busy node, a second more", [](World& w) { busy(w, Seconds{31}); }, "Unknown/AgentSilent"},
      {"a node that was just asked to hurry", [](World& w) { busy(w, Seconds{31}); w.heartbeats["n00"].asked = w.now; }, "Ready/Ready"},
      {"a failed check", [](World& w) { w.reports["n00"].status.findings[1].verdict = Verdict::Fail; }, "NotReady/MTUInterface"},
      {"a check that could not look", [](World& w) { w.reports["n00"].status.findings[1].verdict = Verdict::Unknown; }, "Unknown/MTUInterface"},
      {"a required check that says nothing", [](World& w) { w.reports["n00"].status.findings.erase(w.reports["n00"].status.findings.begin() + 1); }, "Unknown/MTUInterface"},
      {"a required check that was skipped", [](World& w) { w.reports["n00"].status.findings[1].verdict = Verdict::Skipped; }, "Unknown/MTUInterface"},
      {"no clock finding", [](World& w) { w.reports["n00"].status.findings.erase(w.reports["n00"].status.findings.begin()); }, "Unknown/ClockSync"},
      {"a clock that only warns by policy",
       [](World& w) { w.policies["p"].spec.expectations.checks = {{.id = "clock-sync", .action = api::CheckAction::Warn}}; w.reports["n00"].status.findings[0].verdict = Verdict::Fail; },
       "Ready/Ready"},
      {"a warning", [](World& w) { w.reports["n00"].status.findings[1].verdict = Verdict::Warn; }, "Ready/Ready"},
      {"a warning stays one where the policy blocks",
       [](World& w) { w.policies["p"].spec.expectations.checks = {{.id = "mtu-interface", .action = api::CheckAction::Block}}; w.reports["n00"].status.findings[1].verdict = Verdict::Warn; },
       "Ready/Ready"},
      {"a check that only warns by default", [](World& w) { w.reports["n00"].status.findings.push_back({.check = "packet-drops", .verdict = Verdict::Fail}); }, "Ready/Ready"},
      {"a check that only warns by default and could not look",
       [](World& w) { w.reports["n00"].status.findings.push_back({.check = "port-range", .verdict = Verdict::Unknown}); }, "Ready/Ready"},
      {"that check, where the policy blocks on it",
       [](World& w) { w.policies["p"].spec.expectations.checks = {{.id = "packet-drops", .action = api::CheckAction::Block}};
                      w.reports["n00"].status.findings.push_back({.check = "packet-drops", .verdict = Verdict::Fail}); }, "NotReady/PacketDrops"},
      {"a check nobody knows", [](World& w) { w.reports["n00"].status.findings.push_back({.check = "quantum-flux", .verdict = Verdict::Fail}); }, "NotReady/QuantumFlux"},
      {"a check with an odd name", [](World& w) { w.reports["n00"].status.findings.push_back({.check = "\x1b[1m! /", .verdict = Verdict::Fail}); }, "NotReady/M"},
      {"a fail before an unknown",
       [](World& w) { w.reports["n00"].status.findings[0].verdict = Verdict::Unknown; w.reports["n00"].status.findings[1].verdict = Verdict::Fail; }, "NotReady/MTUInterface"},
  };
  for (const Case& one : table) {
    World world = cluster(1, 2);
    one.spoil(world);
    EXPECT_EQ(verdict(world), one.verdict) << one.what;
  }
}

TEST(Readiness, AnExportWithoutTimesKnowsNoFreshness) {
  ClusterSnapshot plain = snapshot(cluster(1, 1));
  plain.heartbeats_known = false;
  EXPECT_EQ(judge_nodes(plain).at("n00").reason, "FreshnessUnknown");
}

TEST(Readiness, ANodeWithoutGpusThatNoPolicySelectsIsNobodysBusiness) {
  World world = cluster(1, 2);
  world.nodes["n00"].allocatable.erase("nvidia.com/gpu");
  EXPECT_EQ(verdict(world), "none");
}

TEST(Readiness, TheHigherPriorityWins) {
  World world = cluster(1, 1);
  world.policies["q"] = world.policies["p"];
  world.policies["q"].meta.name = "q";
  world.policies["q"].spec.priority = 5;
  EXPECT_EQ(verdict(world), "Unknown/ReportOutdated") << "the report was asked for by the other policy";
  world.reports["n00"] = passing_report(world, world.nodes["n00"]);
  EXPECT_EQ(verdict(world), "Ready/Ready");
}

TEST(Readiness, AMessageFitsACondition) {
  World world = cluster(1, 1);
  for (int i = 0; i < 128; ++i) {
    world.reports["n00"].status.findings.push_back({.check = "link-state", .verdict = Verdict::Fail, .subject = std::string(253, 'i'), .seen = std::string(1000, 's')});
  }
  EXPECT_LE(full_verdict(world).message.size(), api::kMaxConditionMessage);
}

TEST(Readiness, TheMessageSaysWhatWasSeenAndWanted) {
  World world = cluster(1, 1);
  world.reports["n00"].status.findings[1] = {.check = "mtu-interface", .verdict = Verdict::Fail, .subject = "ens3f0", .seen = "1500\x1b[2J", .wanted = ">= 9000"};
  EXPECT_EQ(full_verdict(world).message, "ens3f0 1500\\x1b[2J, wants >= 9000");
}

// ---- comparisons

void set_nccl(World& world, const std::string& node, const std::string& name, const std::string& value) {
  world.reports[node].status.nccl = {{.name = name, .value = value, .source = "/etc/nccl.conf"}};
}

TEST(Fleet, TheNodeWhoseNcclSettingDeviatesIsNotReadyByName) {
  World world = cluster(1, 4);
  for (const char* name : {"n00", "n01", "n02"}) set_nccl(world, name, "NCCL_ALGO", "Ring");
  set_nccl(world, "n03", "NCCL_ALGO", "Tree");
  EXPECT_EQ(verdict(world, "n00"), "Ready/Ready");
  EXPECT_EQ(verdict(world, "n03"), "NotReady/NCCLEnv");
  EXPECT_THAT(full_verdict(world, "n03").message, HasSubstr("NCCL_ALGO Tree, wants Ring"));
}

TEST(Readiness, EveryCheckThatBlocksMustBeAnswered) {
  for (const api::CheckEntry& entry : api::kChecks) {
    World world = cluster(1, 1);
    std::erase_if(world.reports["n00"].status.findings, [&](const Finding& f) { return f.check == entry.id; });
    EXPECT_EQ(verdict(world), entry.action == api::CheckAction::Block ? "Unknown/" + reason_word(entry.id) : "Ready/Ready") << entry.id;
  }
}

TEST(Fleet, ASilentNodeHasNoVote) {
  World world = cluster(1, 3);
  set_nccl(world, "n00", "NCCL_ALGO", "Ring");
  set_nccl(world, "n01", "NCCL_ALGO", "Tree");
  set_nccl(world, "n02", "NCCL_ALGO", "Tree");
  EXPECT_EQ(verdict(world, "n00"), "NotReady/NCCLEnv");
  world.ages["n02"] = Seconds{3600};
  EXPECT_EQ(verdict(world, "n00"), "Unknown/NCCLEnv") << "of the two that are heard, neither is the majority";
  EXPECT_EQ(verdict(world, "n02"), "Unknown/AgentSilent");
}

TEST(Fleet, ATieIsUnknownForEveryNode) {
  World world = cluster(1, 2);
  set_nccl(world, "n00", "NCCL_ALGO", "Ring");
  set_nccl(world, "n01", "NCCL_ALGO", "Tree");
  EXPECT_EQ(verdict(world, "n00"), "Unknown/NCCLEnv");
  EXPECT_EQ(verdict(world, "n01"), "Unknown/NCCLEnv");
}

TEST(Fleet, ANodeThatWasReplacedHasNoVote) {
  World world = cluster(1, 3);
  set_nccl(world, "n00", "NCCL_ALGO", "Ring");
  set_nccl(world, "n01", "NCCL_ALGO", "Tree");
  set_nccl(world, "n02", "NCCL_ALGO", "Tree");
  EXPECT_EQ(verdict(world, "n00"), "NotReady/NCCLEnv");
  world.nodes["n01"].boot_id = "x";
  world.nodes["n02"].boot_id = "x";
  EXPECT_EQ(verdict(world, "n00"), "Ready/Ready");
}

TEST(Fleet, APolicyMayOnlyWarnAboutIt) {
  World world = cluster(1, 3);
  world.policies["p"].spec.expectations.checks = {{.id = "nccl-env", .action = api::CheckAction::Warn}};
  set_nccl(world, "n00", "NCCL_ALGO", "Ring");
  EXPECT_EQ(verdict(world, "n00"), "Ready/Ready");
}

TEST(Fleet, NodesOfDifferentPoliciesAreNotCompared) {
  World world = cluster(2, 2);
  world.policies["p"].spec.node_selector.match_labels = {{"rack", "r0"}};
  world.policies["q"] = world.policies["p"];
  world.policies["q"].meta.name = "q";
  world.policies["q"].spec.node_selector.match_labels = {{"rack", "r1"}};
  for (auto& entry : world.reports) entry.second = passing_report(world, world.nodes[entry.first]);
  for (const char* name : {"n02", "n03"}) set_nccl(world, name, "NCCL_ALGO", "Tree");
  for (const char* name : {"n00", "n01", "n02", "n03"}) EXPECT_EQ(verdict(world, name), "Ready/Ready") << name;
}

// ---- reports and heartbeats

std::vector<std::string> planned(const World& world) {
  const ClusterSnapshot now = snapshot(world);
  std::vector<std::string> lines;
  for (const ReportAction& action : plan_reports(now, judge_nodes(now))) {
    lines.push_back(std::visit(
        [](const auto& one) {
          using T = std::decay_t<decltype(one)>;
          if constexpr (std::is_same_v<T, CreateReport>) return "create report " + one.node;
          else if constexpr (std::is_same_v<T, UpdateReportSpec>) return "update report " + one.node;
          else if constexpr (std::is_same_v<T, DeleteReport>) return "delete report " + one.node;
          else if constexpr (std::is_same_v<T, WriteVerdict>) return fmt::format("verdict {} {}/{}", one.node, one.verdict, one.ready.reason);
          else if constexpr (std::is_same_v<T, CreateHeartbeat>) return fmt::format("create heartbeat {} {} s", one.node, one.renewal.count());
          else if constexpr (std::is_same_v<T, SetRenewal>) return fmt::format("renewal {} {} s", one.node, one.renewal.count());
          else return "delete heartbeat " + one.node;
        },
        action));
  }
  return lines;
}

World settled(int nodes) {
  World world = cluster(1, nodes);
  for (auto& entry : world.reports) {
    entry.second.status.verdict = "Ready";
    entry.second.status.conditions = {{.type = "Ready", .status = api::ConditionStatus::True, .reason = "Ready", .message = "every check that blocks has passed",
                                       .last_transition = world.now, .observed_generation = 1}};
  }
  return world;
}

TEST(Reports, NothingIsWrittenWhereNothingChanged) { EXPECT_THAT(planned(settled(3)), IsEmpty()); }

TEST(Reports, ExistForNodesThatAreSelectedOrOfferGpus) {
  World world = settled(2);
  world.reports.erase("n00");
  world.heartbeats.erase("n00");
  EXPECT_THAT(planned(world), ElementsAre("create heartbeat n00 30 s", "create report n00"));
  world = settled(2);
  world.nodes.erase("n00");
  EXPECT_THAT(planned(world), ElementsAre("delete report n00", "delete heartbeat n00"));
  world = settled(2);
  world.policies.clear();
  EXPECT_THAT(planned(world), ElementsAre("update report n00", "verdict n00 Unknown/NoPolicy", "update report n01", "verdict n01 Unknown/NoPolicy"));
}

TEST(Reports, ANodeMadeAgainGetsAReportOfItsOwn) {
  World world = settled(1);
  world.nodes["n00"].meta.uid = "another";
  EXPECT_THAT(planned(world), ElementsAre("delete report n00"));
}

TEST(Reports, AgentsOfNodesThatHoldAJobRenewMoreOften) {
  World world = settled(2);
  api::VerlJob& job = add_job(world, "a", 1);
  job.status.placement = api::Placement{.attempt = 1, .ranks = {{.rank = 0, .pool = "main", .node = "n01"}}};
  EXPECT_THAT(planned(world), ElementsAre("renewal n01 10 s"));
}

TEST(Reports, ASilentAgentTurnsTheColumnUnknown) {
  World world = settled(1);
  world.ages["n00"] = Seconds{1000};
  EXPECT_THAT(planned(world), ElementsAre("verdict n00 Unknown/AgentSilent"));
}

}  // namespace
}  // namespace verl::core::testing
