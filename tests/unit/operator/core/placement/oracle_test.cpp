// Small random instances against trying everything. A failure prints the seed that replays it.
#include <gtest/gtest.h>

#include "oracle.h"
#include "problems.h"

namespace verl::core::placement {
namespace {

struct Case {
  std::string name{};
  Shape shape{};
  std::optional<Topology> topology{};
  std::optional<Topology> own{};  // of the last pool
  int instances{100};
};

void PrintTo(const Case& the, std::ostream* out) { *out << the.name; }

void agrees_with_force(const Problem& problem, std::uint64_t seed) {
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  const Result<Outcome> outcome = solve(problem);
  ASSERT_TRUE(outcome) << outcome.error().message;
  const std::optional<Best> best = best_by_force(problem);
  const Solution* solution = std::get_if<Solution>(&*outcome);
  ASSERT_EQ(solution != nullptr, best.has_value());
  if (solution == nullptr) {
    EXPECT_NE(std::get<Shortage>(*outcome).cause, Cause::NotFound);
    return;
  }
  const std::optional<Best> ours = measured(problem, *solution);
  ASSERT_TRUE(ours) << "the answer breaks a rule";
  EXPECT_EQ(ours->domains, best->domains);
  EXPECT_EQ(ours->edges, best->edges);
  EXPECT_EQ(ours->left_over, solution->left_over);
  EXPECT_EQ(ours->free_racks, solution->free_racks_touched);
  if (problem.pools.size() == 1) {
    EXPECT_EQ(ours->left_over, best->left_over);
    if (problem.levels.size() == 1) {
      EXPECT_EQ(ours->free_racks, best->free_racks);
    }
  }
  bool outer_proven = true;
  for (std::size_t level = 0; level < solution->spans.size(); ++level) {
    const Span& span = solution->spans[level];
    EXPECT_EQ(span.domains, ours->domains[level]);
    outer_proven = outer_proven && span.unknown == 0;
    EXPECT_EQ(span.domains_proven, outer_proven) << "level " << level << " of a small instance";
  }
  EXPECT_EQ(solution->spans.back().edges, ours->edges);
  EXPECT_LE(solution->spans.back().edges_bound, best->edges);
  EXPECT_EQ(solution->spans.back().edges_proven, solution->spans.back().unknown == 0);
}

class AgainstForce : public testing::TestWithParam<Case> {};

TEST_P(AgainstForce, FindsTheSameOptimumAndProvesIt) {
  const Case& the = GetParam();
  for (int i = 0; i < the.instances; ++i) {
    const auto seed = static_cast<std::uint64_t>(i);
    std::mt19937_64 random(seed);
    Problem problem = random_problem(random, the.shape);
    problem.topology = the.topology;
    if (the.own) {
      problem.pools.back().topology = the.own;
    }
    agrees_with_force(problem, seed);
    if (testing::Test::HasFailure()) {
      return;
    }
  }
}

constexpr auto kRequired = api::TopologyMode::Required;
constexpr auto kPreferred = api::TopologyMode::Preferred;

INSTANTIATE_TEST_SUITE_P(
    Instances, AgainstForce,
    testing::Values(
        Case{.name = "OneLevelFlat", .shape = {.nodes = 11, .racks = 4, .levels = 1}, .instances = 300},
        Case{.name = "OneLevelManyRacks", .shape = {.nodes = 11, .racks = 7, .levels = 1}, .instances = 200},
        Case{.name = "TwoLevelsFlat", .shape = {.nodes = 11, .blocks = 2, .racks = 5}, .instances = 300},
        Case{.name = "TwoLevelsThreeBlocks", .shape = {.nodes = 12, .blocks = 3, .racks = 8}, .instances = 200},
        Case{.name = "TwoLevelsSubnets", .shape = {.nodes = 12, .blocks = 3, .racks = 6, .flat = false}, .instances = 200},
        Case{.name = "MissingLabels", .shape = {.nodes = 10, .racks = 4, .unlabelled = true}, .instances = 200},
        Case{.name = "RequiredRack", .shape = {.nodes = 10, .racks = 3}, .topology = Topology{.level = 1, .mode = kRequired}},
        Case{.name = "RequiredBlock",
             .shape = {.nodes = 11, .blocks = 2, .racks = 5},
             .topology = Topology{.level = 0, .mode = kRequired},
             .instances = 200},
        Case{.name = "PreferredBlock", .shape = {.nodes = 10, .racks = 4}, .topology = Topology{.level = 0, .mode = kPreferred}},
        Case{.name = "TwoPoolsAlike", .shape = {.nodes = 9, .racks = 3, .pools = 2}, .instances = 100},
        Case{.name = "TwoPoolsUneven", .shape = {.nodes = 9, .racks = 4, .pools = 2, .uneven = true}, .instances = 100},
        Case{.name = "TwoPoolsOneRack",
             .shape = {.nodes = 9, .racks = 2, .pools = 2, .uneven = true},
             .topology = Topology{.level = 1, .mode = kRequired}},
        Case{.name = "TwoPoolsOwnRack",
             .shape = {.nodes = 9, .racks = 3, .pools = 2},
             .topology = Topology{.level = 0, .mode = kRequired},
             .own = Topology{.level = 1, .mode = kRequired}},
        Case{.name = "ThreePools", .shape = {.nodes = 8, .racks = 3, .pools = 3, .uneven = true}, .instances = 60}),
    [](const auto& the) { return the.param.name; });

}  // namespace
}  // namespace verl::core::placement
