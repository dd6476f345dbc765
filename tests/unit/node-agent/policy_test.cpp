#include <gtest/gtest.h>

#include "node-agent/agent/check.h"

namespace verl::agent {
namespace {

constexpr const char* kPolicy = R"(apiVersion: verl.run/v1alpha1
kind: ReadinessPolicy
metadata: {name: h100}
spec:
  priority: -1000
  nodeSelector: {}
  expectations:
    inventory: {gpus: 8, rdmaDevices: 8, numaNodes: 2}
    thresholds: {mtuMin: 9000, clockOffsetMaxMicroseconds: 50000}
    fabricInterfaces: ["ens*"]
    checks: [{id: packet-drops, action: Block}]
  memoryPerGPU: 200Gi
)";

TEST(Policy, SaysWhatIsExpected) {
  const auto read = policy_expectations(kPolicy, "p.yaml");
  ASSERT_TRUE(read) << read.error().message;
  api::Expectations wanted;
  wanted.inventory = {.gpus = 8, .rdma_devices = 8, .numa_nodes = 2};
  wanted.thresholds = {.mtu_min = 9000, .clock_offset_max = Microseconds(50'000)};
  wanted.fabric_interfaces = {"ens*"};
  wanted.checks = {{"packet-drops", api::CheckAction::Block}};
  EXPECT_EQ(*read, wanted);
}

TEST(Policy, ThatWouldJudgeLessThanItSaysIsRefused) {
  const auto changed = [](std::string_view from, std::string_view to) {
    std::string text = kPolicy;
    text.replace(text.find(from), from.size(), to);
    return policy_expectations(text, "p.yaml");
  };
  EXPECT_EQ(changed("mtuMin", "minMtu").error().message, "p.yaml: unknown field: spec.expectations.thresholds.minMtu");
  for (const auto& [from, to] : {std::pair{"9000", "lots"}, {"packet-drops", "packet-drop"}, {"Block", "Maybe"}, {"ReadinessPolicy", "Pod"}, {"expectations:", "expectation:"}}) {
    EXPECT_FALSE(changed(from, to)) << to;
  }
  EXPECT_FALSE(policy_expectations("", "p.yaml"));
  EXPECT_FALSE(policy_expectations(std::string(kPolicy) + "---\n" + kPolicy, "p.yaml"));
  EXPECT_FALSE(policy_expectations("{", "p.yaml"));
}

}  // namespace
}  // namespace verl::agent
