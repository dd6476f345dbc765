// Time of one placement decision: index, choice, proof. The filters that tell fit nodes are not in it.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <random>
#include <string>

#include "operator/core/placement/placement.h"

namespace {

using verl::core::placement::Outcome;
using verl::core::placement::Problem;
using verl::core::placement::Solution;

// `racks` racks of equal size, ten to a block, each node fit with probability 3/4; flat: addresses shuffled over racks.
Problem cluster(int nodes, int racks, int gang, bool flat) {
  std::mt19937_64 random(1);
  Problem problem{.levels = {"block", "rack"}};
  verl::core::placement::Pool pool{.name = "main", .nodes = gang};
  std::vector<int> hosts(static_cast<std::size_t>(nodes));
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    hosts[i] = static_cast<int>(i);
  }
  for (std::size_t i = hosts.size(); flat && i > 1; --i) {
    std::swap(hosts[i - 1], hosts[random() % i]);
  }
  for (int i = 0; i < nodes; ++i) {
    const int rack = i % racks;
    const int host = hosts[static_cast<std::size_t>(i)];
    if (random() % 4 != 0) {
      pool.eligible.push_back(static_cast<std::uint32_t>(i));
    }
    problem.candidates.push_back(
        {.node = "gpu-" + std::to_string(i),
         .address = flat ? "10.0." + std::to_string(host / 250) + "." + std::to_string(host % 250)
                         : "10.1." + std::to_string(rack) + "." + std::to_string(i / racks),
         .domains = {"block-" + std::to_string(rack / 10), "rack-" + std::to_string(rack)}});
  }
  problem.pools = {pool};
  return problem;
}

void decide(benchmark::State& state, const Problem& problem) {
  Outcome outcome;
  for (auto _ : state) {
    outcome = *solve(problem);
    benchmark::DoNotOptimize(outcome);
  }
  if (const auto* solution = std::get_if<Solution>(&outcome)) {
    const auto& rack = solution->spans.back();
    state.counters["racks"] = rack.domains;
    state.counters["racks_proven"] = rack.domains_proven;
    state.counters["edges"] = rack.edges;
    state.counters["edges_bound"] = rack.edges_bound;
    state.counters["edges_proven"] = rack.edges_proven;
  }
}

// A fixed piece of work, so that runs on different machines can be compared.
void calibration(benchmark::State& state) {
  std::uint64_t x = 1;
  for (auto _ : state) {
    for (int i = 0; i < 1'000'000; ++i) {
      x = x * 6364136223846793005ULL + 1442695040888963407ULL;
    }
    benchmark::DoNotOptimize(x);
  }
}

Problem one_block_needed(Problem problem) {
  problem.topology = {.level = 0, .mode = verl::api::TopologyMode::Required};
  return problem;
}

Problem too_large_for_a_rack(Problem problem) {
  problem.topology = {.level = 1, .mode = verl::api::TopologyMode::Required};
  return problem;
}

Problem two_pools(Problem problem) {
  problem.pools.push_back(problem.pools[0]);
  problem.pools[1].name = "rollout";
  problem.pools[1].nodes = problem.pools[0].nodes / 4;
  return problem;
}

BENCHMARK(calibration)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(decide, subnets_1000_of_5000, cluster(5000, 50, 1000, false))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(decide, flat_1000_of_5000, cluster(5000, 50, 1000, true))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(decide, subnets_256_of_640, cluster(640, 40, 256, false))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(decide, flat_64_of_640, cluster(640, 40, 64, true))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(decide, flat_16_of_64, cluster(64, 8, 16, true))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(decide, one_block_500_of_5000, one_block_needed(cluster(5000, 50, 500, false)))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(decide, explain_1000_of_5000, too_large_for_a_rack(cluster(5000, 50, 1000, false)))->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(decide, two_pools_256_of_5000, two_pools(cluster(5000, 50, 256, false)))->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
