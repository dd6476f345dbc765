// Why there is no placement: the numbers that decide, and repairs that hold.
#include <gtest/gtest.h>

#include "problems.h"

namespace verl::core::placement {
namespace {

Shortage refused(const Problem& problem) {
  const Result<Outcome> outcome = solve(problem);
  if (!outcome || !std::holds_alternative<Shortage>(*outcome)) {
    ADD_FAILURE() << "placed, or not a problem";
    return {};
  }
  return std::get<Shortage>(*outcome);
}

constexpr Topology kOneRack{.level = 1, .mode = api::TopologyMode::Required};

TEST(Shortage, CountsWhatIsThereAndWhatIsWanted) {
  EXPECT_EQ(refused(racks({{"b", "r1", 4, 5}, {"b", "r2", 2, 0}}, 7)),
            (Shortage{.cause = Cause::TooFewNodes,
                      .pools = {{.pool = "main", .wanted = 7, .eligible = 6}},
                      .binding = {"main"},
                      .wanted = 7,
                      .available = 6}));
}

TEST(Shortage, NamesTheBestRackAndWhatPreferredWouldGet) {
  Problem problem = racks({{"b", "r1", 6, 2}, {"b", "r2", 7, 2}, {"b", "r3", 3, 0}, {"b", "r4", 1, 0}}, 8);
  problem.topology = kOneRack;
  EXPECT_EQ(refused(problem),
            (Shortage{.cause = Cause::NoDomainFits,
                      .pools = {{.pool = "main", .wanted = 8, .eligible = 17}},
                      .binding = {"main"},
                      .wanted = 8,
                      .available = 17,
                      .level = 1,
                      .best = {{.name = "r2", .eligible = 7, .total = 9, .short_of = 1},
                               {.name = "r1", .eligible = 6, .total = 8, .short_of = 2},
                               {.name = "r3", .eligible = 3, .total = 3, .short_of = 5}},
                      .relaxation = Relaxation{.domains = 2, .domains_proven = true, .edges = 2, .names = {"r2", "r4"}}}));
}

TEST(Shortage, AsManyRepairsAsItSaysAreNeededAndNoFewer) {
  Problem problem = racks({{"b", "r1", 5, 4}, {"b", "r2", 6, 3}}, 8);
  problem.topology = kOneRack;
  const Shortage shortage = refused(problem);
  ASSERT_EQ(shortage.best.front().name, "r2");
  std::int32_t repaired = 0;
  for (std::uint32_t i = 0; i < problem.candidates.size() && repaired < shortage.best.front().short_of; ++i) {
    auto& eligible = problem.pools[0].eligible;
    if (problem.candidates[i].domains[1] == "r2" && std::find(eligible.begin(), eligible.end(), i) == eligible.end()) {
      EXPECT_TRUE(std::holds_alternative<Shortage>(*solve(problem))) << "after " << repaired;
      eligible.push_back(i);
      ++repaired;
    }
  }
  EXPECT_TRUE(std::holds_alternative<Solution>(*solve(problem)));
}

TEST(Shortage, NamesThePoolsThatCompete) {
  Problem problem = racks({{"b", "r1", 4, 0}}, 2);
  problem.pools[0].eligible = {0, 1, 2};
  problem.pools.push_back({.name = "rollout", .nodes = 2, .eligible = {0, 1, 2}});
  problem.pools.push_back({.name = "reward", .nodes = 1, .eligible = {3}});
  const Shortage shortage = refused(problem);
  EXPECT_EQ(shortage.cause, Cause::PoolsCompete);
  EXPECT_EQ(shortage.binding, (std::vector<std::string>{"main", "rollout"}));
  EXPECT_EQ(shortage.wanted, 4);
  EXPECT_EQ(shortage.available, 3);
}

TEST(Shortage, TellsPoolsWithRacksOfTheirOwnThatCompeteForOne) {
  Problem problem = racks({{"b", "r1", 4, 0}, {"b", "r2", 1, 0}, {"b", "r3", 1, 0}}, 3);
  problem.pools[0].topology = kOneRack;
  problem.pools.push_back({.name = "rollout", .nodes = 3, .eligible = problem.pools[0].eligible, .topology = kOneRack});
  const Shortage shortage = refused(problem);
  EXPECT_EQ(shortage.cause, Cause::DomainsCompete);
  EXPECT_EQ(shortage.binding, (std::vector<std::string>{"main", "rollout"}));
  ASSERT_TRUE(shortage.relaxation);
  EXPECT_EQ(shortage.relaxation->domains, 3);
}

TEST(Shortage, BindsAllPoolsWithoutTopologyOfTheirOwnTogether) {
  Problem problem = racks({{"b", "r1", 4, 0}, {"b", "r2", 3, 0}}, 3);
  problem.pools.push_back({.name = "rollout", .nodes = 3, .eligible = problem.pools[0].eligible});
  problem.topology = kOneRack;
  const Shortage shortage = refused(problem);
  EXPECT_EQ(shortage.cause, Cause::NoDomainFits);
  EXPECT_EQ(shortage.wanted, 6);
  EXPECT_EQ(shortage.best.front(), (DomainCount{.name = "r1", .eligible = 4, .total = 4, .short_of = 2}));
}

}  // namespace
}  // namespace verl::core::placement
