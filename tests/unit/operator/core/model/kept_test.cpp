// What the operator keeps of objects decides the same as the whole objects.
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <random>

#include "api/check_catalogue.h"
#include "builders.h"
#include "operator/core/kept.h"

namespace verl::core::testing {
namespace {

using Random = std::mt19937_64;

int roll(Random& random, int most) { return std::uniform_int_distribution<int>(0, most)(random); }

std::string one_of(Random& random, std::initializer_list<const char*> words) {
  return *(words.begin() + roll(random, static_cast<int>(words.size()) - 1));
}

void spoil(api::NodeReadinessStatus& status, Random& random) {
  constexpr Verdict kVerdicts[] = {Verdict::Pass, Verdict::Pass, Verdict::Warn, Verdict::Fail, Verdict::Unknown, Verdict::Skipped};
  if (roll(random, 3) == 0) status.findings.erase(status.findings.begin() + roll(random, static_cast<int>(status.findings.size()) - 1));
  for (int i = roll(random, 6); i > 0; --i) {
    status.findings.push_back({.check = one_of(random, {"clock-sync", "mtu-interface", "link-speed", "nccl-env"}),
                               .verdict = roll(random, 1) == 0 ? Verdict::Pass : kVerdicts[roll(random, 5)],
                               .subject = one_of(random, {"", "ens3f0", "ens4f0"}),
                               .seen = one_of(random, {"", "1500"}),
                               .wanted = one_of(random, {"", ">= 9000"}),
                               .remedy = "ip link set ens3f0 mtu 9000",
                               .message = one_of(random, {"", "does not apply"})});
  }
  status.interfaces.clear();
  for (int i = roll(random, 4); i > 0; --i) {
    status.interfaces.push_back({.name = one_of(random, {"eth0", "ens3f0", "ens4f0"}), .up = roll(random, 3) != 0, .mtu = 1500 * (1 + roll(random, 2)),
                                 .pci = "0000:01:00.0", .control = roll(random, 1) == 0, .fabric = roll(random, 1) == 0, .addresses = {"10.0.0.1"}});
  }
  status.rdma.clear();
  for (int i = roll(random, 3); i > 0; --i) {
    status.rdma.push_back({.device = one_of(random, {"mlx5_0", "mlx5_1"}), .state = one_of(random, {"ACTIVE", "ACTIVE", "DOWN"}),
                           .link_layer = one_of(random, {"Ethernet", "InfiniBand"}), .netdev = one_of(random, {"eth0", "ens3f0"}), .pci = "0000:01:00.0"});
  }
  status.nccl.clear();
  if (roll(random, 2) == 0) status.nccl.push_back({.name = "NCCL_ALGO", .value = one_of(random, {"Tree", "Ring"}), .source = "/etc/nccl.conf"});
  status.clock = {.source = "chronyd", .synchronised = true};
  status.topology = {.sockets = 2, .gpus = {"0000:40:00.0"}};
}

TEST(Kept, DecidesAsTheWholeObjects) {
  for (unsigned seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    Random random(seed);
    Simulation whole(cluster(2, 3));
    for (auto& entry : whole.world.reports) {
      if (roll(random, 2) != 0) spoil(entry.second.status, random);
    }
    if (roll(random, 3) == 0) whole.world.policies["p"].spec.expectations.checks = {{.id = "link-speed", .action = api::CheckAction::Warn}};
    for (int i = roll(random, 3); i > 0; --i) {
      const std::string name = fmt::format("stranger-{}", i);
      api::Pod& pod = add_stranger(whole.world, name, fmt::format("n{:02}", roll(random, 5)), {{"nvidia.com/gpu", 1000 * roll(random, 8)}});
      pod.meta.labels = {{"app", name}, {std::string(api::kRankLabel), "0"}};
      pod.owner_uid = roll(random, 1) == 0 ? "job-a" : "replicas-1";
      pod.message = "said";
    }
    add_job(whole.world, "a", 2);
    add_job(whole.world, "b", 1);
    if (roll(random, 1) == 0) whole.job("a").spec.network.transport = api::Transport::RoCE;
    Simulation kept(whole.world);
    for (auto& entry : kept.world.reports) entry.second = core::kept(entry.second);
    for (int round = 0; round < 8; ++round) {
      for (auto& entry : kept.world.pods) entry.second = core::kept(entry.second);
      for (auto& entry : kept.world.heartbeats) entry.second = core::kept(entry.second);
      const Round one = plan_round(snapshot(whole.world));
      const Round other = plan_round(snapshot(kept.world));
      ASSERT_EQ(one.verdicts, other.verdicts);
      ASSERT_EQ(one.reports, other.reports);
      ASSERT_EQ(one.plans, other.plans);
      for (const Plan& plan : one.plans) {
        whole.apply(plan);
        kept.apply(plan);
      }
      whole.bind();
      kept.bind();
      whole.start();
      kept.start();
    }
  }
}

TEST(Kept, HoldsABitForManyThatPassed) {
  api::NodeReadiness report{};
  for (const char* port : {"ens3f0", "ens4f0", "ens5f0"}) {
    report.status.findings.push_back({.check = "mtu-interface", .verdict = Verdict::Pass, .subject = port, .seen = "9000", .wanted = ">= 9000"});
  }
  report.status.findings.push_back({.check = "mtu-interface", .verdict = Verdict::Fail, .subject = "ens6f0", .seen = "1500", .wanted = ">= 9000"});
  report.status.findings.push_back({.check = "roce-gid", .verdict = Verdict::Skipped});  // says not why: no answer
  EXPECT_EQ(core::kept(report).status.findings, std::vector<Finding>{report.status.findings[3]});
  EXPECT_EQ(core::kept(report).status.answered, api::answered_bit("mtu-interface"));
}

}  // namespace
}  // namespace verl::core::testing
