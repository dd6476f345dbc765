// What counts as use of a node, and by how much.
#include <gtest/gtest.h>

#include <limits>

#include "operator/core/fit/fit.h"

namespace verl::core::fit {
namespace {

api::Pod pod(std::string node, std::string phase) {
  api::Pod made;
  made.node_name = std::move(node);
  made.phase = std::move(phase);
  made.requests = {{"cpu", 1'000}};
  made.host_ports = {{"", "TCP", 80}};
  return made;
}

TEST(Use, CountsBoundAndNominatedPodsUntilTheyEnd) {
  api::Pod terminating = pod("n", "Running");
  terminating.meta.deleted = Timestamp{};
  api::Pod nominated = pod("", "Pending");
  nominated.nominated_node = "n";
  EXPECT_EQ(held_node(pod("n", "Pending")), "n");
  EXPECT_EQ(held_node(pod("n", "Running")), "n");
  EXPECT_EQ(held_node(pod("n", "Unknown")), "n");
  EXPECT_EQ(held_node(pod("n", "")), "n");
  EXPECT_EQ(held_node(terminating), "n");
  EXPECT_EQ(held_node(nominated), "n");
  EXPECT_EQ(held_node(pod("n", "Succeeded")), "");
  EXPECT_EQ(held_node(pod("n", "Failed")), "");
  EXPECT_FALSE(holds_node(pod("", "Pending")));
}

TEST(Use, SumsByNode) {
  std::vector<std::shared_ptr<const api::Pod>> pods;
  for (const char* node : {"a", "b", "a", ""}) {
    pods.push_back(std::make_shared<api::Pod>(pod(node, "Running")));
  }
  pods.push_back(std::make_shared<api::Pod>(pod("b", "Failed")));
  const NodeUse one{.requests = {{"cpu", 1'000}}, .pods = 1, .ports = {{"", "TCP", 80}}};
  NodeUse two = one;
  two.requests["cpu"] = 2'000;
  two.pods = 2;
  EXPECT_EQ(use_by_node(pods), (UseByNode{{"a", two}, {"b", one}}));
}

TEST(Use, TakesPromisedPodsLikeSeenOnes) {
  NodeUse promised;
  add(promised, {{"cpu", 1'000}}, {{"", "TCP", 81}, {"", "TCP", 80}, {"", "TCP", 80}});
  EXPECT_EQ(promised, (NodeUse{.requests = {{"cpu", 1'000}}, .pods = 1, .ports = {{"", "TCP", 80}, {"", "TCP", 81}}}));
}

TEST(Use, NeverWrapsAround) {
  NodeUse use;
  add(use, {{"cpu", std::numeric_limits<std::int64_t>::max()}}, {});
  add(use, {{"cpu", std::numeric_limits<std::int64_t>::max()}, {"memory", std::numeric_limits<std::int64_t>::max()}}, {});
  EXPECT_EQ(use.requests.at("cpu"), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(use.requests.at("memory"), std::numeric_limits<std::int64_t>::max());
}

}  // namespace
}  // namespace verl::core::fit
