// Time of one round of decisions over a large cluster: every node judged, every report compared, every pod counted.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cstdlib>

#include "bench/calibration.h"
#include "tests/unit/operator/core/builders.h"

namespace {

using namespace verl;
using namespace verl::core;
using testing::Simulation;
using testing::World;

constexpr int kRacks = 50;
constexpr int kPerRack = 100;

// 5,000 fit nodes, ten racks a block, and two small pods of others on each: 10,000 pods.
const World& large_cluster() {
  static const World kWorld = [] {
    World world = testing::cluster(0, 0);
    world.config.levels = {{.name = "block", .key = "block"}, {.name = "rack", .key = "rack"}};
    const World empty = world;  // a report depends on the policies and the levels, not on other nodes
    for (int number = 0; number < kRacks * kPerRack; ++number) {
      const std::string name = fmt::format("n{:04}", number);
      const int rack = number % kRacks;
      api::Node node = testing::node(name, fmt::format("r{:02}", rack), fmt::format("10.1.{}.{}", rack, number / kRacks));
      node.meta.labels["block"] = fmt::format("b{}", rack / 10);
      world.reports[name] = testing::passing_report(empty, node);
      world.ages[name] = Seconds{5};
      api::Heartbeat heartbeat{.holder = name, .renewed = world.now - Seconds{5}, .duration = Seconds{90}};
      heartbeat.meta.name = name;
      world.heartbeats[name] = heartbeat;
      world.nodes[name] = std::move(node);
      for (const char* kind : {"dns", "logs"}) {
        testing::add_stranger(world, fmt::format("{}-{}", kind, name), name, {{"cpu", 100}, {"memory", std::int64_t{1} << 37}});
      }
    }
    return world;
  }();
  return kWorld;
}

void check(bool truth, const char* sentence) {
  if (truth) return;
  fmt::print(stderr, "round_bench: {}\n", sentence);
  std::exit(1);
}

void decide(benchmark::State& state, const World& world, std::size_t wanted_placements, std::size_t wanted_pods) {
  const ClusterSnapshot snapshot = testing::snapshot(world);
  std::size_t placements = 0;
  std::size_t pods = 0;
  for (auto _ : state) {
    Round round = plan_round(snapshot);
    benchmark::DoNotOptimize(round);
    state.PauseTiming();
    placements = pods = 0;
    for (const Plan& plan : round.plans) {
      const bool had_one = world.jobs.at(plan.name_space + "/" + plan.job).status.placement.has_value();
      if (plan.status && plan.status->placement && !had_one) placements += plan.status->placement->ranks.size();
      for (const auto& made : testing::actions_of<CreatePods>(plan)) pods += made.pods.size();
    }
    state.ResumeTiming();
  }
  check(placements == wanted_placements, "another placement than wanted");
  check(pods == wanted_pods, "another number of pods than wanted");
  state.counters["nodes"] = static_cast<double>(snapshot.nodes.size());
  state.counters["pods"] = static_cast<double>(snapshot.pods.size());
  state.counters["jobs"] = static_cast<double>(snapshot.jobs.size());
}

// One gang of 1,000 nodes, asked about already, not placed yet.
World asked() {
  Simulation simulation(large_cluster());
  testing::add_job(simulation.world, "gang", 1000);
  while (simulation.world.dry_runs.empty()) simulation.round();
  while (!simulation.job("gang").status.placement) {
    World before = simulation.world;
    simulation.round();
    if (simulation.job("gang").status.placement) return before;
  }
  return simulation.world;
}

// The same, placed: the next round makes its pods.
World placed() {
  Simulation simulation(asked());
  while (simulation.pods("gang").empty()) {
    World before = simulation.world;
    simulation.round();
    if (!simulation.pods("gang").empty()) return before;
  }
  return simulation.world;
}

World twenty_jobs_run() {
  Simulation simulation(large_cluster());
  for (int i = 0; i < 20; ++i) testing::add_job(simulation.world, fmt::format("job{:02}", i), 100);
  simulation.settle(40);
  simulation.bind();
  simulation.start();
  simulation.settle(40);
  for (int i = 0; i < 20; ++i) simulation.pass_gate(fmt::format("job{:02}", i));
  simulation.settle(40);
  for (int i = 0; i < 20; ++i) check(simulation.job(fmt::format("job{:02}", i)).status.phase == "Running", "a job does not run");
  return simulation.world;
}

void judge(benchmark::State& state) {
  const ClusterSnapshot snapshot = testing::snapshot(large_cluster());
  for (auto _ : state) {
    Verdicts verdicts = judge_nodes(snapshot);
    benchmark::DoNotOptimize(verdicts);
  }
}

void no_job(benchmark::State& state) { decide(state, large_cluster(), 0, 0); }
void place_a_gang_of_1000(benchmark::State& state) { decide(state, asked(), 1000, 0); }
void render_a_gang_of_1000(benchmark::State& state) { decide(state, placed(), 0, 1000); }
void idle_with_20_jobs_of_100(benchmark::State& state) { decide(state, twenty_jobs_run(), 0, 0); }

BENCHMARK(judge)->Unit(benchmark::kMillisecond);
BENCHMARK(no_job)->Unit(benchmark::kMillisecond);
BENCHMARK(place_a_gang_of_1000)->Unit(benchmark::kMillisecond);
BENCHMARK(render_a_gang_of_1000)->Unit(benchmark::kMillisecond);
BENCHMARK(idle_with_20_jobs_of_100)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
