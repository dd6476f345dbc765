#include <gtest/gtest.h>

#include "operator/core/fit/fit.h"
#include "operator/core/fit/host_ports.h"

namespace verl::core::fit {
namespace {

TEST(HostPorts, ConflictOnTheSameAddressOrOnAll) {
  struct Case {
    api::HostPort taken{};
    api::HostPort wanted{};
    bool conflict{false};
  };
  const std::vector<Case> cases{
      {{"", "TCP", 80}, {"", "TCP", 80}, true},
      {{"", "TCP", 80}, {"", "TCP", 81}, false},
      {{"", "TCP", 80}, {"", "UDP", 80}, false},
      {{"", "", 80}, {"0.0.0.0", "TCP", 80}, true},
      {{"10.0.0.1", "TCP", 80}, {"", "TCP", 80}, true},
      {{"", "TCP", 80}, {"10.0.0.1", "TCP", 80}, true},
      {{"10.0.0.1", "TCP", 80}, {"10.0.0.2", "TCP", 80}, false},
      {{"10.0.0.1", "TCP", 80}, {"10.0.0.1", "TCP", 80}, true},
      {{"::", "TCP", 80}, {"10.0.0.1", "TCP", 80}, false},
      {{"", "TCP", 0}, {"", "TCP", 0}, false},
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(conflicting({cases[i].taken}, cases[i].wanted) != nullptr, cases[i].conflict) << "case " << i;
  }
}

TEST(HostPorts, AreNamedWhenTheyKeepAPodOff) {
  api::Node node;
  node.ready = api::ConditionStatus::True;
  node.allocatable = {{"pods", 10'000}};
  NodeUse use;
  add(use, {}, {{"10.0.0.1", "TCP", 20000}});
  EXPECT_EQ(misfits(node, use, {.host_ports = {{"", "TCP", 20000}, {"", "TCP", 20001}}}),
            (std::vector<Misfit>{{.reason = "HostPortTaken",
                                  .subject = "20000",
                                  .message = "host port TCP 20000 is taken by TCP 10.0.0.1:20000"}}));
}

TEST(PortBlock, IsTheLowestThatIsFreeOnEveryNode) {
  NodeUse a;
  NodeUse b;
  EXPECT_EQ(free_block({}, {&a, &b}), 20000);
  add(a, {}, {{"", "TCP", 20015}});
  EXPECT_EQ(free_block({}, {&a, &b}), 20016);
  add(b, {}, {{"10.0.0.1", "UDP", 20016}});
  EXPECT_EQ(free_block({}, {&a, &b}), 20032);
  EXPECT_EQ(free_block({.reserved = {20040}}, {&a, &b}), 20048);
  EXPECT_EQ(free_block({}, {&b}), 20000);
}

TEST(PortBlock, SkipsTheRasPorts) {
  const auto block = free_block({.first = 28010, .last = 28100}, {});
  EXPECT_EQ(block, 28042);  // 28010–28025 and 28026–28041 hold some of 28020–28039
}

TEST(PortBlock, StaysInsideTheRange) {
  EXPECT_EQ(free_block({.first = 20000, .last = 20014}, {}), std::nullopt);
  EXPECT_EQ(free_block({.first = 20000, .last = 20015}, {}), 20000);
  NodeUse use;
  add(use, {}, {{"", "TCP", 20000}, {"", "TCP", 19999}, {"", "TCP", 20016}, {"", "TCP", 65535}});
  EXPECT_EQ(free_block({.first = 20000, .last = 20015}, {&use}), std::nullopt);
  EXPECT_EQ(free_block({.first = 0, .last = 20015}, {}), std::nullopt);
  EXPECT_EQ(free_block({.first = 20000, .last = 70000}, {}), std::nullopt);
  EXPECT_EQ(free_block({.first = 20015, .last = 20000}, {}), std::nullopt);
}

}  // namespace
}  // namespace verl::core::fit
