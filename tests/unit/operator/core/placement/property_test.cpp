// What must hold for every instance, on sizes that force cannot reach. A failure prints the seed that replays it.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "oracle.h"
#include "problems.h"

namespace verl::core::placement {
namespace {

Shape shape_for(std::mt19937_64& random) {
  return {.nodes = roll(random, 20, 60),
          .blocks = roll(random, 1, 4),
          .racks = roll(random, 4, 9),
          .levels = roll(random, 1, 2),
          .pools = roll(random, 1, 3),
          .flat = roll(random, 0, 1) == 0,
          .unlabelled = roll(random, 0, 2) == 0,
          .uneven = roll(random, 0, 1) == 0};
}

Problem made(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const Shape shape = shape_for(random);
  Problem problem = random_problem(random, shape);
  problem.budget = 2'000'000;
  if (roll(random, 0, 2) == 0) {
    problem.topology = Topology{.level = problem.levels.size() - 1, .mode = api::TopologyMode::Required};
  }
  return problem;
}

// Everything of an outcome but the indices of candidates.
struct Named {
  std::vector<std::pair<std::string, std::uint32_t>> ranks{};
  std::vector<Span> spans{};
  std::optional<Shortage> shortage{};
  bool operator==(const Named&) const = default;
};

Named named(const Problem& problem, const Outcome& outcome) {
  Named result;
  if (const Solution* solution = std::get_if<Solution>(&outcome)) {
    for (const Rank& rank : solution->ranks) {
      result.ranks.emplace_back(problem.candidates[rank.candidate].node, rank.pool);
    }
    result.spans = solution->spans;
  } else {
    result.shortage = std::get<Shortage>(outcome);
  }
  return result;
}

constexpr std::uint64_t kSeeds = 100;

TEST(AnyInstance, GetsAllOfTheGangOrNothingAndKeepsTheRules) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    const Problem problem = made(seed);
    const Outcome outcome = *solve(problem);
    if (const Solution* solution = std::get_if<Solution>(&outcome)) {
      const std::optional<Best> ours = measured(problem, *solution);
      ASSERT_TRUE(ours);
      ASSERT_EQ(ours->edges, solution->spans.back().edges);
      for (const Span& span : solution->spans) {
        ASSERT_LE(span.domains_bound, span.domains);
        ASSERT_LE(span.edges_bound, span.edges);
      }
    }
  }
}

TEST(AnyInstance, DoesNotDependOnTheOrderOfItsInput) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    const Problem problem = made(seed);
    std::mt19937_64 random(seed + 1'000'000);
    std::vector<std::uint32_t> moved(problem.candidates.size());
    std::iota(moved.begin(), moved.end(), 0U);
    for (std::size_t i = moved.size(); i > 1; --i) {
      std::swap(moved[i - 1], moved[static_cast<std::size_t>(roll(random, 0, static_cast<int>(i) - 1))]);
    }
    Problem shuffled = problem;
    for (std::size_t i = 0; i < moved.size(); ++i) {
      shuffled.candidates[moved[i]] = problem.candidates[i];
    }
    for (Pool& pool : shuffled.pools) {
      for (std::uint32_t& i : pool.eligible) {
        i = moved[i];
      }
      std::reverse(pool.eligible.begin(), pool.eligible.end());
    }
    ASSERT_EQ(named(problem, *solve(problem)), named(shuffled, *solve(shuffled)));
  }
}

TEST(AnyInstance, GetsTheSameAnswerAgain) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Problem problem = made(seed);
    const Outcome first = *solve(problem);
    for (int i = 0; i < 4; ++i) {
      ASSERT_EQ(*solve(problem), first) << "seed " << seed;
    }
  }
}

TEST(AnyInstance, KeepsItsNodesWhenOnlyTheseAreLeft) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Problem problem = made(seed);
    problem.pools.resize(1);
    const Outcome outcome = *solve(problem);
    const Solution* solution = std::get_if<Solution>(&outcome);
    if (solution == nullptr) {
      continue;
    }
    Problem again = problem;
    again.pools[0].eligible.clear();
    for (const Rank& rank : solution->ranks) {
      again.pools[0].eligible.push_back(rank.candidate);
    }
    const Outcome repeated = *solve(again);
    ASSERT_TRUE(std::holds_alternative<Solution>(repeated));
    ASSERT_EQ(std::get<Solution>(repeated).ranks, solution->ranks);
  }
}

TEST(AnyInstance, IsNeverWorseWithOneMoreFitNode) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Problem problem = made(seed);
    problem.pools.resize(1);
    std::vector<char> fit(problem.candidates.size(), 0);
    for (const std::uint32_t i : problem.pools[0].eligible) {
      fit[i] = 1;
    }
    const Outcome before = *solve(problem);
    const Solution* old = std::get_if<Solution>(&before);
    for (std::uint32_t i = 0; i < fit.size(); ++i) {
      if (fit[i] != 0 || old == nullptr) {
        continue;
      }
      Problem more = problem;
      more.pools[0].eligible.push_back(i);
      const Outcome after = *solve(more);
      ASSERT_TRUE(std::holds_alternative<Solution>(after));
      const auto value = [](const Solution& solution) {
        std::vector<int> counts;
        for (const Span& span : solution.spans) {
          counts.push_back(span.domains);
        }
        return counts;
      };
      ASSERT_LE(value(std::get<Solution>(after)), value(*old));
    }
  }
}

TEST(AnyInstance, LeavesAsLittleOverAsAnySetOfAsManyRacks) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<Rack> shape;
    const int count = roll(random, 2, 10);
    int total = 0;
    for (int r = 0; r < count; ++r) {
      shape.push_back({"b", "r" + std::to_string(r), roll(random, 1, 16), roll(random, 0, 1)});
      total += shape.back().fit;
    }
    const int n = roll(random, 1, total);
    const Outcome outcome = *solve(racks(shape, n));
    const Solution& solution = std::get<Solution>(outcome);
    std::vector<int> best{99, 99, 99};  // racks, left over, wholly free racks touched
    for (unsigned set = 1; set < 1U << count; ++set) {
      std::vector<int> value{0, -n, 0};
      for (int r = 0; r < count; ++r) {
        if ((set >> r & 1U) != 0) {
          const Rack& rack = shape[static_cast<std::size_t>(r)];
          ++value[0];
          value[1] += rack.fit;
          value[2] += rack.unfit == 0;
        }
      }
      if (value[1] >= 0) {
        best = std::min(best, value);
      }
    }
    ASSERT_EQ((std::vector<int>{solution.spans[1].domains, solution.left_over, solution.free_racks_touched}), best)
        << "seed " << seed;
  }
}

TEST(AnyInstance, IsFineWithStrangeLabelsAndSizes) {
  Problem problem = racks({{std::string(63, 'b'), std::string("r\xff\x01"), 3, 0}, {"b\nc", "", 2, 0}}, 4);
  EXPECT_TRUE(std::holds_alternative<Solution>(*solve(problem)));
  problem.candidates[0].domains.clear();
  EXPECT_TRUE(std::holds_alternative<Solution>(*solve(problem)));
  problem.pools[0].nodes = 200'000;
  EXPECT_TRUE(std::holds_alternative<Shortage>(*solve(problem)));
}

TEST(AnyInstance, EndsAtItsBudgetAndSaysSo) {
  std::mt19937_64 random(7);
  Problem problem = random_problem(random, {.nodes = 250, .blocks = 1, .racks = 25, .levels = 1});
  problem.pools[0].nodes = 80;
  problem.budget = 1000;
  const Outcome outcome = *solve(problem);
  const Span& span = std::get<Solution>(outcome).spans[0];
  EXPECT_TRUE(span.domains_proven);
  EXPECT_FALSE(span.edges_proven);
  EXPECT_GT(span.edges, span.edges_bound);
}

}  // namespace
}  // namespace verl::core::placement
