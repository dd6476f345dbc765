// What must hold for every cluster and every set of jobs. A failure prints the seed that replays it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "builders.h"
#include "operator/core/attempt.h"
#include "operator/core/job_plan.h"

namespace verl::core::testing {
namespace {

using Random = std::mt19937_64;

int roll(Random& random, int from, int to) { return std::uniform_int_distribution<int>(from, to)(random); }

// A cluster with faults of every kind and a few jobs in it.
World random_world(Random& random) {
  World world = cluster(roll(random, 1, 3), roll(random, 1, 5));
  for (auto& [name, node] : world.nodes) {
    switch (roll(random, 0, 14)) {
      case 0: node.unschedulable = true; break;
      case 1: node.ready = api::ConditionStatus::Unknown; break;
      case 2: node.taints.push_back({.key = "team", .value = "x", .effect = "NoSchedule"}); break;
      case 3: node.boot_id = "new"; break;
      case 4: node.allocatable["nvidia.com/gpu"] = 4000; break;
      case 5: world.ages[name] = Seconds{roll(random, 80, 100)}; break;
      case 6: world.reports[name].status.findings[0].verdict = Verdict::Unknown; break;
      case 7: world.reports[name].status.interfaces[1].mtu = 9100; break;
      case 8: world.reports.erase(name); break;
      case 9: add_stranger(world, "s-" + name, name, {{"nvidia.com/gpu", roll(random, 1, 8) * 1000}, {"cpu", 1500}}); break;
      default: break;
    }
  }
  const int jobs = roll(random, 1, 6);
  for (int i = 0; i < jobs; ++i) {
    api::VerlJob& job = add_job(world, fmt::format("j{}", i), roll(random, 1, 4), roll(random, 1, 8));
    if (roll(random, 0, 3) == 0) job.spec.priority_class = "urgent";
    if (roll(random, 0, 2) == 0) job.spec.topology = {.level = "rack", .mode = roll(random, 0, 1) == 0 ? api::TopologyMode::Required : api::TopologyMode::Preferred};
    if (roll(random, 0, 3) == 0) job.spec.pools.push_back({.name = "rollout", .nodes = roll(random, 1, 2), .gpus_per_node = roll(random, 1, 8)});
  }
  return world;
}

// GPUs in thousandths that bound pods and placements without bound pods take of each node.
std::map<std::string, std::int64_t> gpus_taken(const World& world) {
  std::map<std::string, std::int64_t> taken;
  for (const auto& entry : world.pods) {
    const api::Pod& pod = entry.second;
    const auto gpus = pod.requests.find("nvidia.com/gpu");
    if (!pod.node_name.empty() && pod.phase != "Failed" && pod.phase != "Succeeded" && gpus != pod.requests.end()) taken[pod.node_name] += gpus->second;
  }
  for (const auto& entry : world.jobs) {
    const api::VerlJob& job = entry.second;
    if (!job.status.placement || job.status.finished_at) continue;
    for (const api::RankPlacement& rank : job.status.placement->ranks) {
      const auto pod = world.pods.find(fmt::format("rl/{}", pod_name(job.meta.name, job.status.placement->attempt, rank.rank)));
      if (pod != world.pods.end() && !pod->second.node_name.empty()) continue;
      const auto pool = std::find_if(job.spec.pools.begin(), job.spec.pools.end(), [&](const api::Pool& p) { return p.name == rank.pool; });
      taken[rank.node] += std::int64_t{pool->gpus_per_node} * 1000;
    }
  }
  return taken;
}

void expect_sound(const World& world) {
  for (const auto& [node, gpus] : gpus_taken(world)) {
    EXPECT_LE(gpus, world.nodes.at(node).allocatable.at("nvidia.com/gpu")) << "GPUs of " << node << " given twice";
  }
  for (const auto& entry : world.jobs) {
    const api::VerlJob& job = entry.second;
    if (!job.status.placement) continue;
    const api::Placement& placement = *job.status.placement;
    EXPECT_EQ(placement_fault(placement), std::nullopt);
    for (const api::Pool& pool : job.spec.pools) {
      EXPECT_EQ(std::count_if(placement.ranks.begin(), placement.ranks.end(), [&](const auto& rank) { return rank.pool == pool.name; }), pool.nodes);
    }
    for (size_t i = 1; i < placement.ranks.size(); ++i) EXPECT_LT(placement.ranks[i - 1].address, placement.ranks[i].address);
    EXPECT_EQ((placement.port_base - world.config.port_first) % 16, 0);
    EXPECT_TRUE(placement.port_base + 15 < 28020 || placement.port_base > 28039) << placement.port_base;
  }
}

TEST(Property, NoTwoJobsAreGivenTheSameGpusAndEveryPlacementIsSound) {
  int placements = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    Simulation sim(random_world(random));
    for (int step = 0; step < 10; ++step) {
      const Verdicts before = judge_nodes(snapshot(sim.world));
      const World was = sim.world;
      sim.round();
      for (const auto& entry : sim.world.jobs) {
        const api::VerlJob& job = entry.second;
        if (!job.status.placement || was.jobs.at(entry.first).status.placement) continue;
        ++placements;
        for (const api::RankPlacement& rank : job.status.placement->ranks) {
          EXPECT_EQ(before.at(rank.node).word, NodeWord::Ready) << rank.node;
          const api::Node& node = was.nodes.at(rank.node);
          EXPECT_FALSE(node.unschedulable) << rank.node;
          EXPECT_EQ(node.ready, api::ConditionStatus::True) << rank.node;
          EXPECT_EQ(node.boot_id, rank.boot_id);
          EXPECT_EQ(node.meta.uid, rank.node_uid);
        }
        EXPECT_TRUE(std::none_of(sim.world.pods.begin(), sim.world.pods.end(), [&](const auto& pod) { return pod.second.owner_uid == job.meta.uid; }))
            << "a placement is written before any pod is made";
      }
      expect_sound(sim.world);
      if (::testing::Test::HasFailure()) return;
      if (roll(random, 0, 1) == 0) sim.bind();
      if (roll(random, 0, 1) == 0) sim.start();
      if (roll(random, 0, 3) == 0) sim.remove_deleted();
      const std::string victim = std::next(sim.world.nodes.begin(), roll(random, 0, static_cast<int>(sim.world.nodes.size()) - 1))->first;
      if (roll(random, 0, 9) == 0) sim.world.nodes[victim].boot_id += "x";
      if (roll(random, 0, 9) == 0) sim.pass_gate("j0");
      if (roll(random, 0, 9) == 0) sim.end_driver("j0", roll(random, 0, 1), kPassed);
      sim.advance(Seconds{roll(random, 0, 40)});
    }
  }
  EXPECT_GT(placements, 200);
}

TEST(Property, ARoundThatHasBeenDoneChangesNothingMore) {
  for (std::uint64_t seed = 1; seed <= 80; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    Simulation sim(random_world(random));
    sim.settle();
    for (const Plan& plan : sim.round()) EXPECT_EQ(told(Plan{.actions = plan.actions, .status = plan.status}), "") << plan.job;
    if (::testing::Test::HasFailure()) return;
  }
}

template <class T>
void shuffle(std::vector<T>& values, Random& random) {
  std::shuffle(values.begin(), values.end(), random);
}

TEST(Property, TheOrderOfObjectsDecidesNothing) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    Simulation sim(random_world(random));
    for (const char* name : {"q2", "q1"}) {
      api::ResourceQuota quota{.hard = {{"requests.nvidia.com/gpu", 16'000}}};
      quota.meta.name_space = "rl";
      quota.meta.name = name;
      sim.world.quotas[name] = quota;
    }
    const int steps = roll(random, 1, 4);
    for (int i = 0; i < steps; ++i) {
      sim.round();
      sim.bind();
    }
    const ClusterSnapshot straight = snapshot(sim.world);
    ClusterSnapshot mixed = straight;
    shuffle(mixed.policies, random);
    shuffle(mixed.priority_classes, random);
    shuffle(mixed.quotas, random);
    shuffle(mixed.jobs, random);
    shuffle(mixed.reports, random);
    shuffle(mixed.heartbeats, random);
    const Round a = plan_round(straight);
    const Round b = plan_round(mixed);
    EXPECT_EQ(a.plans, b.plans);
    EXPECT_EQ(a.verdicts, b.verdicts);
    EXPECT_EQ(a.reports, b.reports);
    // Lists in the words of people follow the order of nodes; what is decided does not.
    shuffle(mixed.nodes, random);
    shuffle(mixed.pods, random);
    const Round c = plan_round(mixed);
    ASSERT_EQ(a.plans.size(), c.plans.size());
    for (size_t i = 0; i < a.plans.size(); ++i) {
      if (!a.plans[i].status || !c.plans[i].status) continue;
      EXPECT_EQ(a.plans[i].status->placement, c.plans[i].status->placement);
      EXPECT_EQ(a.plans[i].status->reason, c.plans[i].status->reason);
    }
    if (::testing::Test::HasFailure()) return;
  }
}

// ---- objects that nobody should be able to write, and somebody will

std::string odd_text(Random& random) {
  const std::vector<std::string> texts{"", "main", "n00", "rollout", "../..", "\x1b[2J", "\xff\xfe", "$(HOME)", "null", std::string(5000, 'x'), "rack", "-1", "{}", "verl-job", "a"};
  return texts[static_cast<size_t>(roll(random, 0, static_cast<int>(texts.size()) - 1))];
}

std::int32_t odd_number(Random& random) {
  const std::vector<std::int32_t> numbers{0, 1, 2, 8, -1, -8, 1024, 100000, std::numeric_limits<std::int32_t>::max(), std::numeric_limits<std::int32_t>::min()};
  return numbers[static_cast<size_t>(roll(random, 0, static_cast<int>(numbers.size()) - 1))];
}

std::string odd_template(Random& random) {
  const std::vector<std::string> texts{
      "{}", "", "null", "[]", "1", "{", "\"x\"", std::string(2000, '['), R"({"spec":null})", R"({"spec":[]})", R"({"metadata":{"labels":[1]}})",
      R"({"spec":{"containers":{}}})", R"({"spec":{"containers":[1,null,"x",{}]}})", R"({"spec":{"containers":[{"name":1}]}})",
      R"({"spec":{"containers":[{"name":"ray","resources":{"limits":{"cpu":{},"memory":[]}}}]}})",
      R"({"spec":{"containers":[{"name":"ray","resources":{"limits":{"cpu":"9223372036854775","memory":"9Pi"}}}]}})",
      R"({"spec":{"containers":[{"name":"ray","resources":{"limits":{"memory":"1"}}}]}})",
      R"({"spec":{"containers":[{"name":"ray","env":{},"volumeMounts":1,"securityContext":{"capabilities":{"add":{},"drop":1}}}]}})",
      R"({"spec":{"containers":[{"name":"ray","securityContext":{"capabilities":[]}}]}})",
      R"({"spec":{"containers":[{"name":"x","ports":[{"containerPort":99999999999},{"containerPort":-1},1]}]}})",
      R"({"spec":{"tolerations":[1,{"key":1},{"key":"a","operator":"Exists"}],"nodeSelector":{"a":1,"rack":"r0"},"volumes":[{"hostPath":1}]}})"};
  return texts[static_cast<size_t>(roll(random, 0, static_cast<int>(texts.size()) - 1))];
}

api::Placement odd_placement(Random& random) {
  api::Placement placement{.attempt = odd_number(random), .port_base = odd_number(random), .job_generation = odd_number(random)};
  const int ranks = roll(random, 0, 3);
  for (int i = 0; i < ranks; ++i) {
    placement.ranks.push_back({.rank = roll(random, 0, 2) == 0 ? odd_number(random) : i, .pool = roll(random, 0, 1) == 0 ? "main" : odd_text(random),
                               .node = roll(random, 0, 2) == 0 ? odd_text(random) : fmt::format("n{:02}", i), .node_uid = fmt::format("uid-n{:02}", i),
                               .boot_id = fmt::format("boot-n{:02}", i), .address = odd_text(random)});
  }
  placement.decided = kStart - Seconds{roll(random, 0, 400)};
  return placement;
}

void make_odd(World& world, Random& random) {
  for (auto& entry : world.jobs) {
    api::VerlJob& job = entry.second;
    api::VerlJobSpec& spec = job.spec;
    const auto maybe = [&] { return roll(random, 0, 2) == 0; };
    if (roll(random, 0, 5) == 0) spec.pools.clear();
    for (api::Pool& pool : spec.pools) {
      if (maybe()) pool.nodes = odd_number(random);
      if (maybe()) pool.gpus_per_node = odd_number(random);
      if (maybe()) pool.template_json = odd_template(random);
      if (maybe()) pool.name = odd_text(random);
      if (roll(random, 0, 4) == 0) pool.topology = {.level = odd_text(random), .mode = api::TopologyMode::Required};
    }
    if (maybe()) spec.image = odd_text(random);
    if (maybe()) spec.trainer.overrides[odd_text(random)] = odd_text(random);
    if (maybe()) spec.nccl_env[odd_text(random)] = odd_text(random);
    if (maybe()) spec.network.mtu = odd_number(random);
    if (maybe()) spec.recovery.infrastructure_restarts = odd_number(random);
    if (maybe()) spec.deadlines.bind = Seconds{odd_number(random)};
    if (maybe()) spec.deadlines.queued = Seconds{odd_number(random)};
    if (maybe()) spec.ttl_after_finished = Seconds{odd_number(random)};
    if (maybe()) job.status.placement = odd_placement(random);
    if (maybe()) job.status.attempts.started = odd_number(random);
    if (maybe()) job.status.attempts.infrastructure_restarts = odd_number(random);
    if (maybe()) job.status.rejected_nodes.push_back({.node = odd_text(random), .reason = odd_text(random), .times = odd_number(random), .until = kStart + Seconds{roll(random, -99, 99)}});
    if (maybe()) job.status.queued_at = kStart - Seconds{1000};
    if (roll(random, 0, 9) == 0) job.status.finished_at = kStart - Seconds{roll(random, 0, 100)};
    if (maybe()) set_condition(job.status.conditions, {.type = "PodsCreated", .status = api::ConditionStatus::True, .reason = "Created"});
    if (maybe()) {
      world.dry_runs[job.meta.uid] = {{.job_generation = 1, .asked = kStart, .pool = odd_text(random), .allowed = roll(random, 0, 3) != 0, .refusal_reason = "PodRefused",
                                       .requests = {{"cpu", odd_number(random)}, {"memory", std::int64_t{odd_number(random)} << 31}}}};
    }
  }
  for (auto& entry : world.nodes) {
    if (roll(random, 0, 3) != 0) continue;
    entry.second.allocatable[roll(random, 0, 1) == 0 ? "cpu" : "nvidia.com/gpu"] = odd_number(random);
    if (roll(random, 0, 3) == 0) entry.second.internal_ip = odd_text(random);
    if (roll(random, 0, 3) == 0) entry.second.meta.labels["rack"] = odd_text(random);
  }
  for (auto& entry : world.policies) {
    if (roll(random, 0, 3) == 0) entry.second.spec.memory_per_gpu = Bytes{std::int64_t{odd_number(random)} << roll(random, 0, 31)};
  }
  for (auto& entry : world.reports) {
    if (roll(random, 0, 3) == 0) entry.second.status.findings.push_back({.check = odd_text(random), .verdict = Verdict::Fail, .subject = odd_text(random), .seen = odd_text(random)});
    if (roll(random, 0, 5) == 0) entry.second.status.interfaces.clear();
    if (roll(random, 0, 5) == 0) entry.second.status.nccl = {{.name = odd_text(random), .value = odd_text(random), .source = odd_text(random)}};
  }
}

void spoil_pods(World& world, Random& random) {
  for (auto& entry : world.pods) {
    api::Pod& pod = entry.second;
    if (roll(random, 0, 2) != 0) continue;
    pod.phase = roll(random, 0, 1) == 0 ? "Failed" : odd_text(random);
    pod.reason = odd_text(random);
    if (roll(random, 0, 2) == 0) pod.containers.clear();
    if (roll(random, 0, 2) == 0) pod.containers = {ended("driver", odd_number(random), odd_text(random), world.now), ended("ray", odd_number(random), odd_text(random), world.now)};
    if (roll(random, 0, 2) == 0) pod.meta.labels[std::string(api::kRankLabel)] = odd_text(random);
    if (roll(random, 0, 4) == 0) pod.meta.labels[std::string(api::kAttemptLabel)] = odd_text(random);
  }
}

bool is_word(const std::string& text) {
  return !text.empty() && text.size() <= 128 && text[0] >= 'A' && text[0] <= 'Z' &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) != 0; });
}

// The bounds of the CRD: a status beyond one of them could never be written.
void expect_writable(const api::VerlJobStatus& status, const api::VerlJobStatus& before) {
  static const std::set<std::string> kPhases{"Suspended", "Queued", "Starting", "Running", "Recovering", "Succeeded", "Failed"};
  if (before.finished_at && before.phase.empty()) return;  // not written by us
  EXPECT_TRUE(kPhases.contains(status.phase)) << status.phase;
  EXPECT_LE(status.conditions.size(), 16U);
  for (const api::Condition& one : status.conditions) {
    EXPECT_TRUE(is_word(one.reason)) << one.type << " " << one.reason;
    EXPECT_LE(one.message.size(), 4096U);
  }
  EXPECT_TRUE(is_word(status.reason)) << status.reason;
  EXPECT_LE(status.ready.size(), 16U);
  EXPECT_TRUE(status.nodes >= 0 && status.nodes <= 8192);
  EXPECT_TRUE(status.gpus >= 0 && status.gpus <= 131072);
  EXPECT_LE(status.rejected_nodes.size(), std::max<size_t>(64, before.rejected_nodes.size()));
  EXPECT_LE(status.attempts.last_message.size(), 4096U);
  if (status.placement && status.placement != before.placement) {
    EXPECT_GE(status.placement->attempt, 1);
    EXPECT_FALSE(status.placement->ranks.empty());
  }
}

TEST(Property, NothingThatSomebodyWroteMakesTheCoreFall) {
  int plans = 0;
  for (std::uint64_t seed = 1; seed <= 800; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    Simulation sim(random_world(random));
    make_odd(sim.world, random);
    for (int step = 0; step < 5; ++step) {
      const World before = sim.world;
      const Round round = plan_round(snapshot(sim.world));
      for (const Plan& plan : round.plans) {
        ++plans;
        if (plan.status) expect_writable(*plan.status, before.jobs.at(plan.name_space + "/" + plan.job).status);
        for (const CreatePods& create : actions_of<CreatePods>(plan)) {
          for (const auto& pod : create.pods) EXPECT_TRUE(nlohmann::json::accept(pod.second));
        }
      }
      for (const ReportAction& action : round.reports) {
        if (const auto* verdict = std::get_if<WriteVerdict>(&action)) {
          EXPECT_TRUE(is_word(verdict->ready.reason)) << verdict->ready.reason;
          EXPECT_LE(verdict->ready.message.size(), 4096U);
        }
      }
      if (::testing::Test::HasFailure()) return;
      for (const Plan& plan : round.plans) sim.apply(plan);
      sim.bind();
      sim.start();
      spoil_pods(sim.world, random);
      sim.advance(Seconds{roll(random, 0, 90)});
    }
  }
  EXPECT_GT(plans, 2000);
}

}  // namespace
}  // namespace verl::core::testing
