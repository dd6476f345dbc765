#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/readiness.h"
#include "report/render.h"
#include "sample.h"

namespace verl::report {
namespace {

using testing::ElementsAre;

std::vector<std::string> node_names(const ReadinessReport& report) {
  std::vector<std::string> names;
  for (const NodeLine& node : report.input.nodes) names.push_back(node.name);
  return names;
}

TEST(ReadinessReport, ListsNodesWorstFirstThenByName) {
  EXPECT_THAT(node_names(build(sample())), ElementsAre("n01", "n02", "n08", "n05", "n07", "n03", "n00", "n04", "n06", "n09", "n10", "n11"));
}

TEST(ReadinessReport, SaysTheSameWhateverTheOrderOfItsInput) {
  ReportInput reversed = sample();
  std::reverse(reversed.nodes.begin(), reversed.nodes.end());
  EXPECT_EQ(render(build(reversed), Format::Json, {}), render(build(sample()), Format::Json, {}));
}

TEST(ReadinessReport, GroupsWhatSeveralNodesAndInterfacesHaveInCommon) {
  const ReadinessReport report = build(sample());
  const auto section = std::find_if(report.sections.begin(), report.sections.end(), [](const Section& s) { return s.name == "network"; });
  ASSERT_NE(section, report.sections.end());
  ASSERT_EQ(section->checks.size(), 2U);
  const Problem wanted{.verdict = Verdict::Fail, .nodes = {"n01", "n02"}, .subjects = {"ens3f0", "ens3f1"}, .seen = "1500", .wanted = ">= 9000",
                       .remedies = {"ip link set ens3f0 mtu 9000, and in the switch port", "ip link set ens3f1 mtu 9000, and in the switch port"},
                       .policy = "h100-roce"};
  EXPECT_EQ(section->checks[0].id, "mtu-interface");
  EXPECT_THAT(section->checks[0].problems, ElementsAre(wanted));
  EXPECT_EQ(section->checks[1].id, "packet-drops");
  EXPECT_EQ(section->good, 9);  // of 12: two fail, one says nothing
  EXPECT_EQ(section->judged, 12);
}

TEST(ReadinessReport, CountsAPairOfNodeAndCheckOnce) {
  // Two nodes with two short interfaces each, one failed check that nobody knows; a clock and a silent agent; a drop and a cordoned node.
  EXPECT_EQ(build(sample()).counts, (Counts{.errors = 3, .warnings = 2, .unknown = 2}));
}

TEST(ReadinessReport, CountsInTheLargestSetOnlyNodesThatMayTakeJobs) {
  const LargestSet wanted{.nodes = 6, .gpus = 48,
                          .levels = {{.level = "block", .nodes = 3, .gpus = 24, .domains = {"b1", "b2"}}, {.level = "rack", .nodes = 3, .gpus = 24, .domains = {"r2"}}}};
  EXPECT_EQ(build(sample()).largest, wanted);
}

TEST(ReadinessReport, DoesNotAddUpNodesThatAreNotAlike) {
  ReportInput input{.levels = {"rack"}};
  for (int i = 0; i < 5; ++i) {
    NodeLine node = ready_node("n" + std::to_string(i), "", "r0");
    node.domains = {"r0"};
    node.like = i < 2 ? "MTU 1500" : "MTU 9000";
    input.nodes.push_back(node);
  }
  EXPECT_EQ(largest_ready_set(input), (LargestSet{.nodes = 3, .gpus = 24, .levels = {{.level = "rack", .nodes = 3, .gpus = 24, .domains = {"r0"}}}}));
}

TEST(ReadinessReport, TakesEqualNamesUnderOtherParentsForOtherDomains) {
  const ReportInput input{.levels = {"block", "rack"}, .nodes = {ready_node("a", "b1", "r1"), ready_node("b", "b2", "r1"), ready_node("c", "b2", "r1")}};
  EXPECT_EQ(largest_ready_set(input).levels[1], (LevelSet{.level = "rack", .nodes = 2, .gpus = 16, .domains = {"r1"}}));
}

TEST(ReadinessReport, TakesANodeWithoutLabelToBeAlone) {
  const ReportInput input{.levels = {"rack"}, .nodes = {ready_node("a", "", ""), ready_node("b", "", "")}};
  EXPECT_EQ(largest_ready_set(input).levels[0], (LevelSet{.level = "rack", .nodes = 1, .gpus = 8, .domains = {"unknown(a)", "unknown(b)"}}));
}

struct FailOnCase {
  const char* name{""};
  std::vector<NodeLine> nodes{};
  bool at_error{false};
  bool at_warning{false};
};

NodeLine with(Verdict verdict) {
  NodeLine node = ready_node("a", "b", "r");
  node.findings.push_back(finding(verdict, "nccl-env"));
  return node;
}

TEST(ReadinessReport, FailsAtItsLevelAndAlwaysWhenSomethingIsUnknown) {
  NodeLine silent = ready_node("a", "b", "r");
  silent.believed = false;
  silent.word = Word::Unknown;
  NodeLine unexplained = ready_node("a", "b", "r");
  unexplained.word = Word::NotReady;
  NodeLine cordoned = ready_node("a", "b", "r");
  cordoned.held_back = "cordoned";
  const std::vector<FailOnCase> cases{{"no node at all", {}, true, true},
                                      {"passes", {with(Verdict::Pass)}, false, false},
                                      {"skipped", {with(Verdict::Skipped)}, false, false},
                                      {"warns", {with(Verdict::Warn)}, false, true},
                                      {"fails", {with(Verdict::Fail)}, true, true},
                                      {"unknown", {with(Verdict::Unknown)}, true, true},
                                      {"a report that does not count", {silent}, true, true},
                                      {"not ready for a reason that no finding names", {unexplained}, true, true},
                                      {"no node that may take a job", {cordoned}, true, true}};
  for (const FailOnCase& one : cases) {
    const ReadinessReport report = build({.nodes = one.nodes});
    EXPECT_EQ(fails(report, FailOn::Error), one.at_error) << one.name;
    EXPECT_EQ(fails(report, FailOn::Warning), one.at_warning) << one.name;
    EXPECT_EQ(report.ready, !one.at_error) << one.name;
  }
}

TEST(NodeReport, FailsWhenNothingWasJudged) {
  EXPECT_TRUE(fails(NodeLine{.name = "a"}, FailOn::Error));
  EXPECT_TRUE(fails(NodeLine{.name = "a", .findings = {finding(Verdict::Skipped, "gpu-count")}}, FailOn::Error));
  EXPECT_TRUE(fails(NodeLine{.name = "a", .findings = {finding(Verdict::Unknown, "clock-sync")}}, FailOn::Error));
  EXPECT_FALSE(fails(NodeLine{.name = "a", .findings = {finding(Verdict::Warn, "clock-sync")}}, FailOn::Error));
  EXPECT_TRUE(fails(NodeLine{.name = "a", .findings = {finding(Verdict::Warn, "clock-sync")}}, FailOn::Warning));
}

}  // namespace
}  // namespace verl::report
