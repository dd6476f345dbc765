// The scheduler's verdict, case by case. That these are its verdicts is for tests/operator/scheduler_oracle to show.
#include <gtest/gtest.h>

#include "operator/core/fit/fit.h"

namespace verl::core::fit {
namespace {

api::Node gpu_node() {
  api::Node node;
  node.meta.name = "n1";
  node.meta.labels = {{"pool", "a"}};
  node.ready = api::ConditionStatus::True;
  node.allocatable = {{"cpu", 8'000}, {"memory", 64LL * 1024 * 1024 * 1024 * 1000}, {"pods", 3'000}, {"nvidia.com/gpu", 8'000}};
  return node;
}

std::vector<std::string> reasons(const api::Node& node, const NodeUse& use, const PodNeeds& needs) {
  std::vector<std::string> words;
  for (const Misfit& misfit : misfits(node, use, needs)) {
    words.push_back(misfit.reason);
  }
  EXPECT_EQ(words.empty(), fits(node, use, needs));
  return words;
}

using Words = std::vector<std::string>;

TEST(Fit, NeedsEveryRequestedResource) {
  const NodeUse use{.requests = {{"cpu", 2'000}, {"nvidia.com/gpu", 4'000}}, .pods = 1};
  EXPECT_EQ(reasons(gpu_node(), use, {.requests = {{"cpu", 6'000}, {"nvidia.com/gpu", 4'000}}}), Words{});
  EXPECT_EQ(misfits(gpu_node(), use, {.requests = {{"cpu", 6'001}, {"nvidia.com/gpu", 8'000}}}),
            (std::vector<Misfit>{{.reason = "InsufficientResource",
                                  .subject = "cpu",
                                  .message = "cpu free: 6 of 8, wants 6001m",
                                  .seen = 6'000,
                                  .wanted = 6'001},
                                 {.reason = "InsufficientResource",
                                  .subject = "nvidia.com/gpu",
                                  .message = "nvidia.com/gpu free: 4 of 8, wants 8",
                                  .seen = 4'000,
                                  .wanted = 8'000}}));
}

TEST(Fit, TakesAResourceTheNodeDoesNotNameAsNone) {
  EXPECT_EQ(reasons(gpu_node(), {}, {.requests = {{"rdma/hca", 1'000}}}), Words{"InsufficientResource"});
  EXPECT_EQ(reasons(gpu_node(), {}, {.requests = {{"rdma/hca", 0}}}), Words{}) << "nothing asked, nothing needed";
}

TEST(Fit, AsksNothingOfANodeThatIsOverfullInWhatThePodDoesNotWant) {
  const NodeUse use{.requests = {{"cpu", 9'000}}};
  EXPECT_EQ(reasons(gpu_node(), use, {.requests = {{"cpu", 0}, {"memory", 1'000}}}), Words{});
  EXPECT_EQ(misfits(gpu_node(), use, {.requests = {{"cpu", 1}}}).front().message, "cpu free: -1 of 8, wants 1m");
}

TEST(Fit, CountsPodsByTheNodesOwnLimit) {
  EXPECT_EQ(reasons(gpu_node(), {.pods = 2}, {}), Words{});
  EXPECT_EQ(misfits(gpu_node(), {.pods = 3}, {}).front().message, "holds 3 of 3 pods");
  api::Node silent = gpu_node();
  silent.allocatable.erase("pods");
  EXPECT_EQ(reasons(silent, {}, {}), Words{"TooManyPods"});
}

TEST(Fit, RoundsEverythingButCpuUpToWholeUnits) {
  api::Node node = gpu_node();
  node.allocatable["memory"] = 2'000;
  NodeUse use;
  add(use, {{"memory", 100}}, {});
  EXPECT_EQ(use.requests.at("memory"), 1'000);
  EXPECT_EQ(reasons(node, use, {.requests = {{"memory", 1'000}}}), Words{});
  EXPECT_EQ(reasons(node, use, {.requests = {{"memory", 1'001}}}), Words{"InsufficientResource"});
}

TEST(Fit, MatchesEveryLabelOfTheSelector) {
  EXPECT_EQ(reasons(gpu_node(), {}, {.node_selector = {{"pool", "a"}}}), Words{});
  EXPECT_EQ(misfits(gpu_node(), {}, {.node_selector = {{"disk", "ssd"}, {"pool", "b"}}}),
            (std::vector<Misfit>{
                {.reason = "NodeSelectorMismatch", .subject = "disk", .message = "has no label disk, wants ssd"},
                {.reason = "NodeSelectorMismatch", .subject = "pool", .message = "label pool is a, wants b"}}));
}

TEST(Fit, WantsReadyWhateverIsTolerated) {
  api::Node node = gpu_node();
  node.ready = api::ConditionStatus::Unknown;
  node.taints = {{.key = "node.kubernetes.io/unreachable", .effect = "NoSchedule"}};
  EXPECT_EQ(reasons(node, {}, {}), Words{"NodeNotReady"}) << "told once";
  EXPECT_EQ(reasons(node, {}, {.tolerations = {{.op = "Exists"}}}), Words{"NodeNotReady"});
}

TEST(Fit, KeepsOffACordonUnlessItIsTolerated) {
  api::Node node = gpu_node();
  node.unschedulable = true;
  node.taints = {{.key = "node.kubernetes.io/unschedulable", .effect = "NoSchedule"}};
  EXPECT_EQ(reasons(node, {}, {}), Words{"NodeCordoned"});
  EXPECT_EQ(reasons(node, {}, {.tolerations = {{.key = "node.kubernetes.io/unschedulable", .op = "Exists"}}}), Words{});
}

TEST(Fit, NeverPassesWhatCouldNotBeRead) {
  api::Node node = gpu_node();
  node.unreadable = {"status.allocatable[cpu]: \"eight\" is no quantity"};
  EXPECT_EQ(reasons(node, {}, {}), Words{"NodeUnreadable"});
  NodeUse use;
  add(use, api::Pod{.meta = {.name_space = "ns", .name = "p"}, .unreadable = {"spec.containers"}});
  EXPECT_EQ(misfits(gpu_node(), use, {}).front().subject, "ns/p: spec.containers");
}

struct TaintCase {
  api::Taint taint{};
  api::Toleration toleration{};
  bool tolerated{false};
};

TEST(Taints, AreToleratedAsTheSchedulerDoes) {
  const api::Taint taint{.key = "k", .value = "v", .effect = "NoSchedule"};
  const std::vector<TaintCase> cases{
      {taint, {.key = "k", .op = "Equal", .value = "v", .effect = "NoSchedule"}, true},
      {taint, {.key = "k", .op = "", .value = "v"}, true},
      {taint, {.key = "k", .op = "Equal", .value = "w"}, false},
      {taint, {.key = "k", .op = "Exists"}, true},
      {taint, {.key = "l", .op = "Exists"}, false},
      {taint, {.op = "Exists"}, true},
      {taint, {.op = "Exists", .effect = "NoExecute"}, false},
      {taint, {.op = "", .value = "v"}, false},
      {taint, {.key = "k", .op = "Gt", .value = "v"}, false},
      {taint, {}, false},
      {{.key = "k", .effect = "PreferNoSchedule"}, {}, true},
      {{.key = "k", .effect = "NoExecute"}, {}, false},
      {{.key = "k", .effect = "NoExecute"}, {.key = "k", .op = "Exists", .effect = "NoExecute"}, true},
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    api::Node node = gpu_node();
    node.taints = {cases[i].taint};
    EXPECT_EQ(reasons(node, {}, {.tolerations = {cases[i].toleration}}), cases[i].tolerated ? Words{} : Words{"UntoleratedTaint"})
        << "case " << i;
  }
}

TEST(Taints, EachNeedsATolerationOfItsOwn) {
  api::Node node = gpu_node();
  node.taints = {{.key = "a", .effect = "NoSchedule"}, {.key = "b", .value = "1", .effect = "NoExecute"}};
  const auto found = misfits(node, {}, {.tolerations = {{.key = "a", .op = "Exists"}}});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].message, "taint b=1:NoExecute is not tolerated");
}

}  // namespace
}  // namespace verl::core::fit
