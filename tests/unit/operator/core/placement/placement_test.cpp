// What a person would check by hand.
#include <gtest/gtest.h>

#include "problems.h"

namespace verl::core::placement {
namespace {

Solution solved(const Problem& problem) {
  const Result<Outcome> outcome = solve(problem);
  if (!outcome || !std::holds_alternative<Solution>(*outcome)) {
    ADD_FAILURE() << (outcome ? "no placement" : outcome.error().message);
    return {};
  }
  return std::get<Solution>(*outcome);
}

std::vector<std::string> nodes(const Problem& problem, const Solution& solution) {
  std::vector<std::string> names;
  for (const Rank& rank : solution.ranks) {
    names.push_back(problem.candidates[rank.candidate].node);
  }
  return names;
}

TEST(Placement, TakesTheTightestRackThatHoldsTheGang) {
  const Problem problem = racks({{"b", "r1", 8, 0}, {"b", "r2", 5, 3}, {"b", "r3", 4, 4}}, 5);
  const Solution solution = solved(problem);
  const Span one{.domains = 1, .domains_bound = 1, .domains_proven = true, .edges_proven = true, .names = {"r2"}};
  EXPECT_EQ(solution.spans[1], one);
  EXPECT_EQ(solution.reported_level, 1U);
  EXPECT_EQ(solution.left_over, 0);
  EXPECT_EQ(nodes(problem, solution), (std::vector<std::string>{"r2-0", "r2-1", "r2-2", "r2-3", "r2-4"}));
}

TEST(Placement, PrefersTwoHalfUsedRacksToBreakingAFreeOne) {
  const Problem problem = racks(
      {{"b", "a", 8, 0}, {"b", "b", 8, 0}, {"b", "c", 8, 0}, {"b", "d", 5, 3}, {"b", "e", 5, 3}, {"b", "f", 3, 5}}, 10);
  const Solution solution = solved(problem);
  EXPECT_EQ(solution.spans[1].names, (std::vector<std::string>{"d", "e"}));
  EXPECT_EQ(solution.left_over, 0);
  EXPECT_EQ(solution.free_racks_touched, 0);
  EXPECT_EQ(solution.spans[1].edges, 2);
  EXPECT_TRUE(solution.spans[1].edges_proven);
}

TEST(Placement, CountsBlocksBeforeRacks) {
  // Two racks of different blocks would do, but one block holds the gang in three.
  const Problem problem = racks({{"b1", "r1", 6, 0}, {"b2", "r2", 6, 0}, {"b3", "r3", 4, 0}, {"b3", "r4", 4, 0}, {"b3", "r5", 4, 0}}, 12);
  const Solution solution = solved(problem);
  EXPECT_EQ(solution.spans[0].domains, 1);
  EXPECT_EQ(solution.spans[1].domains, 3);
  EXPECT_TRUE(solution.spans[1].domains_proven);
}

TEST(Placement, RanksFollowTheStringOrderOfAddresses) {
  Problem problem{.levels = {"rack"}};
  Pool pool{.name = "main", .nodes = 3};
  for (const char* address : {"10.0.0.10", "10.0.0.2", "10.0.0.9"}) {
    pool.eligible.push_back(static_cast<std::uint32_t>(problem.candidates.size()));
    problem.candidates.push_back({.node = std::string("n") + address, .address = address, .domains = {"r"}});
  }
  std::reverse(pool.eligible.begin(), pool.eligible.end());
  problem.pools = {pool};
  EXPECT_EQ(nodes(problem, solved(problem)), (std::vector<std::string>{"n10.0.0.10", "n10.0.0.2", "n10.0.0.9"}));
}

TEST(Placement, SaysWhenAddressesForceMoreEdgesThanRacks) {
  // Two racks whose addresses alternate: with every node needed, each neighbour is elsewhere.
  Problem problem{.levels = {"rack"}};
  Pool pool{.name = "main", .nodes = 8};
  for (int i = 0; i < 8; ++i) {
    pool.eligible.push_back(static_cast<std::uint32_t>(i));
    problem.candidates.push_back({.node = "n" + std::to_string(i), .address = "10.0.0." + std::to_string(i), .domains = {i % 2 == 0 ? "r0" : "r1"}});
  }
  problem.pools = {pool};
  const Solution solution = solved(problem);
  EXPECT_EQ(solution.spans[0].edges, 8);
  EXPECT_TRUE(solution.spans[0].edges_proven) << "there is only one choice";
}

TEST(Placement, NeverProvesWhatDependsOnUnknownDomains) {
  Problem problem = racks({{"b", "r1", 2, 0}}, 3);
  problem.candidates.push_back({.node = "lost", .address = "10.0.9.9", .domains = {"", ""}});
  problem.pools[0].eligible.push_back(2);
  const Solution solution = solved(problem);
  EXPECT_EQ(solution.spans[1].names, (std::vector<std::string>{"r1", "unknown(lost)"}));
  EXPECT_EQ(solution.spans[1].unknown, 1);
  EXPECT_FALSE(solution.spans[1].domains_proven);
  EXPECT_FALSE(solution.spans[1].edges_proven);
}

TEST(Placement, KeepsNodesOfOneRackTogetherWhereOnlyTheBlockLabelIsMissing) {
  Problem problem = racks({{"", "r1", 4, 0}}, 4);
  problem.topology = Topology{.level = 1, .mode = api::TopologyMode::Required};
  const Solution solution = solved(problem);
  EXPECT_EQ(solution.spans[1].domains, 1);
  EXPECT_FALSE(solution.spans[0].domains_proven);
  EXPECT_FALSE(solution.spans[1].domains_proven) << "what lies outside is not known";
}

TEST(Placement, KeepsRacksOfEqualNameInDifferentBlocksApart) {
  Problem problem = racks({{"b1", "same", 2, 0}, {"b2", "same", 2, 0}}, 3);
  problem.topology = Topology{.level = 1, .mode = api::TopologyMode::Required};
  EXPECT_TRUE(std::holds_alternative<Shortage>(*solve(problem)));
  problem.topology.reset();
  EXPECT_EQ(solved(problem).spans[1].names, (std::vector<std::string>{"b1/same", "b2/same"}));
}

TEST(Placement, KnowsNothingOfDomainsWithoutLevels) {
  Problem problem = racks({{"b", "r1", 4, 0}}, 2);
  problem.levels.clear();
  const Solution solution = solved(problem);
  EXPECT_TRUE(solution.spans.empty());
  EXPECT_EQ(solution.ranks.size(), 2U);
}

TEST(Placement, GivesEveryPoolNodesOfItsOwn) {
  Problem problem = racks({{"b", "r1", 4, 0}, {"b", "r2", 4, 0}}, 4);
  problem.pools.push_back({.name = "rollout", .nodes = 4, .eligible = problem.pools[0].eligible});
  const Solution solution = solved(problem);
  EXPECT_EQ(solution.ranks.size(), 8U);
  EXPECT_EQ(solution.spans[1].edges, 0) << "each pool has a rack of its own";
  EXPECT_TRUE(solution.spans[1].edges_proven);
}

TEST(Placement, NumbersRanksOverAllPoolsTogether) {
  Problem problem = racks({{"b", "r1", 2, 0}}, 1);
  problem.pools[0].eligible = {1};
  problem.pools.push_back({.name = "rollout", .nodes = 1, .eligible = {0}});
  EXPECT_EQ(solved(problem).ranks, (std::vector<Rank>{{.candidate = 0, .pool = 1}, {.candidate = 1, .pool = 0}}));
}

TEST(Placement, LeavesTheScarceNodesToThePoolThatNeedsThem) {
  Problem problem = racks({{"b", "r1", 4, 0}}, 2);
  problem.pools[0].eligible = {0, 1, 2, 3};
  problem.pools.push_back({.name = "rollout", .nodes = 2, .eligible = {0, 1}});
  const Solution solution = solved(problem);
  EXPECT_EQ(solution.ranks, (std::vector<Rank>{{0, 1}, {1, 1}, {2, 0}, {3, 0}}));
}

TEST(Placement, PlacesNothingForNobody) {
  Problem problem = racks({{"b", "r1", 4, 0}}, 0);
  EXPECT_TRUE(solved(problem).ranks.empty());
  problem.pools.clear();
  EXPECT_TRUE(solved(problem).ranks.empty());
}

TEST(Placement, RefusesProblemsThatContradictThemselves) {
  const Problem sound = racks({{"b", "r1", 4, 0}}, 2);
  std::vector<std::pair<std::string, Problem>> cases;
  cases.emplace_back("negative", sound).second.pools[0].nodes = -1;
  cases.emplace_back("index", sound).second.pools[0].eligible = {4};
  cases.emplace_back("address", sound).second.candidates[0].address.clear();
  cases.emplace_back("address twice", sound).second.candidates[0].address = sound.candidates[1].address;
  cases.emplace_back("node twice", sound).second.candidates[0].node = sound.candidates[1].node;
  cases.emplace_back("level", sound).second.topology = Topology{.level = 2};
  cases.emplace_back("own level", sound).second.pools[0].topology = Topology{.level = 2};
  cases.emplace_back("pools", sound).second.pools.resize(17);
  for (const auto& [name, problem] : cases) {
    EXPECT_FALSE(solve(problem)) << name;
  }
}

TEST(Placement, TakesANodeThatAPoolListsTwiceOnce) {
  Problem problem = racks({{"b", "r1", 1, 0}}, 2);
  problem.pools[0].eligible = {0, 0};
  EXPECT_EQ(std::get<Shortage>(*solve(problem)).cause, Cause::TooFewNodes);
}

}  // namespace
}  // namespace verl::core::placement
