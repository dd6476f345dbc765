// NCCL's settings against the hardware of a node, and nodes against each other.
#include <gmock/gmock.h>

#include <algorithm>

#include "diagnosis/nccl/selection.h"
#include "diagnosis/rdma/address.h"
#include "tests/corpus/harness.h"

namespace verl::corpus {
namespace {

using diagnosis::Finding;
using diagnosis::NodeFacts;
using diagnosis::ReadDocument;
using diagnosis::Severity;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// "id" of each finding at or above the severity that names the node.
std::vector<std::string> on_node(const Outcome& outcome, const std::string& node, Severity least) {
  std::vector<std::string> found;
  for (const Finding& one : outcome.diagnosis.findings) {
    if (one.severity >= least && std::find(one.nodes.begin(), one.nodes.end(), node) != one.nodes.end()) found.push_back(one.id);
  }
  return found;
}

// A process environment in which nothing concerns NCCL.
ReadDocument empty_environment() {
  ReadDocument document;
  document.name = "env";
  document.format = "environment";
  own_node(document.reading).nccl.environments.emplace_back();
  return document;
}

}  // namespace

// The lint of the case; what its log shows is asserted with the other logs.
CORPUS(a01, {{"ens3f0", "enq9p1"}, {"veth7b1c9d0", "veth31ff204"}}) {
  ReadDocument document = empty_environment();
  NodeFacts& node = own_node(document.reading);
  for (const auto& [name, address] : {std::pair{"lo", "127.0.0.1"}, std::pair{"ens3f0", "192.0.2.31"}, std::pair{"veth7b1c9d0", "fe80::5c3a:e1ff:fe09:77b2"}}) {
    fabric::Interface interface;
    interface.name = c.as(name);
    interface.addresses = {address};
    node.fabric.interfaces.push_back(interface);
  }
  Outcome outcome;
  outcome.diagnosis = diagnosis::diagnose({document}, {});
  const Finding finding = outcome.finding("NCCL313", "NCCL_SOCKET_IFNAME");
  EXPECT_EQ(finding.severity, Severity::Warning);
  EXPECT_THAT(finding.message, HasSubstr("NCCL would take 2 interfaces: " + c.as("ens3f0") + " 192.0.2.31, " + c.as("veth7b1c9d0")));
  EXPECT_EQ(finding.wanted, "=" + c.as("ens3f0"));
  EXPECT_THAT(finding.remedy, HasSubstr("^lo,docker,veth"));

  diagnosis::Policy one_node;
  one_node.multi_node = false;
  outcome.diagnosis = diagnosis::diagnose({document}, one_node);
  EXPECT_THAT(outcome.findings("NCCL313"), IsEmpty());
  own_node(document.reading).fabric.interfaces.pop_back();
  outcome.diagnosis = diagnosis::diagnose({document}, {});
  EXPECT_THAT(outcome.findings("NCCL313"), IsEmpty());
}

CORPUS(a05, {{"mlx5_", "hfi1_"}}) {
  const auto outcome = c.diagnose({{.file = "a-nccl-env/a05.env"}, {.file = "a-nccl-env/a05-hcas.txt"}});
  EXPECT_EQ(outcome.text(0, "NCCL_IB_HCA"), c.as("mlx5_2:1"));
  EXPECT_THAT(outcome.at_least(Severity::Warning), ElementsAre("NCCL011 NCCL_IB_HCA"));
  const Finding finding = outcome.finding("NCCL011", "NCCL_IB_HCA");
  EXPECT_EQ(finding.severity, Severity::Warning);
  EXPECT_EQ(finding.wanted, c.as("=mlx5_2:1"));
  EXPECT_THAT(finding.message, HasSubstr(c.as("mlx5_2")));
  size_t taken = 1;  // mlx5_2 itself
  for (const char* device : {"mlx5_20", "mlx5_21", "mlx5_22", "mlx5_23"}) {
    EXPECT_THAT(finding.message, HasSubstr(c.as(device)));
    ++taken;
  }
  EXPECT_EQ(taken, 5U);
  for (const char* device : {"mlx5_0", "mlx5_1", "mlx5_3"}) EXPECT_THAT(finding.message, Not(HasSubstr(c.as(device) + " ")));
  std::vector<std::string> selected;
  const nccl::Selection list = nccl::parse_selection(outcome.text(0, "NCCL_IB_HCA"), nccl::kMostDevices);
  for (const auto& port : outcome.facts(1).fabric.ports) {
    if (nccl::selects(list, port.device, port.port)) selected.push_back(port.device);
  }
  std::sort(selected.begin(), selected.end());
  EXPECT_THAT(selected, ElementsAre(c.as("mlx5_2"), c.as("mlx5_20"), c.as("mlx5_21"), c.as("mlx5_22"), c.as("mlx5_23")));
}

CORPUS(a09, {{"ens5f0np0", "enq8f1np3"}, {"eno1", "enx7"}, {"198.51.100", "203.10.113"}, {"192.0.2.", "10.99.2."}}) {
  const auto outcome = c.diagnose({{.file = "a-nccl-env/a09.env"}, {.file = "a-nccl-env/a09-ip-br-addr.txt"}});
  for (const char* variable : {"NCCL_SOCKET_IFNAME", "GLOO_SOCKET_IFNAME"}) {
    EXPECT_EQ(outcome.text(0, variable), c.as("198.51.100."));
    const bool nccl = std::string_view(variable) == "NCCL_SOCKET_IFNAME";
    const Finding finding = outcome.finding(nccl ? "NCCL030" : "NCCL511", variable);
    EXPECT_EQ(finding.severity, Severity::Error);
    EXPECT_THAT(finding.message, testing::AllOf(HasSubstr(c.as("198.51.100.")), HasSubstr("address")));
    EXPECT_THAT(finding.wanted, HasSubstr(c.as("ens5f0np0")));
    EXPECT_THAT(finding.remedy, HasSubstr(c.as("ens5f0np0")));
    EXPECT_THAT(finding.wanted + finding.remedy, Not(HasSubstr(c.as("eno1"))));
  }
  const fabric::Interface* holder = fabric::interface_named(outcome.facts(1).fabric, c.as("ens5f0np0"));
  ASSERT_NE(holder, nullptr);
  EXPECT_THAT(holder->addresses, ElementsAre(c.as("198.51.100.24") + "/24"));
  const fabric::Interface* other = fabric::interface_named(outcome.facts(1).fabric, c.as("eno1"));
  ASSERT_NE(other, nullptr);
  EXPECT_THAT(other->addresses, ElementsAre(c.as("192.0.2.24") + "/24"));
}

CORPUS(a18, {{"roceP3p5s0f", "roceP9p7s1f"}, {"enP3p5s0f", "enP9p7s1f"}, {"198.51.100", "203.10.113"}, {"node-a", "host-x"}, {"node-b", "host-y"}}) {
  const std::string a = c.as("node-a");
  const std::string b = c.as("node-b");
  const auto with = [&](const std::string& of_a, const std::string& of_b) {
    return c.diagnose({{.node = "node-a", .file = "a-nccl-env/" + of_a},
                       {.node = "node-b", .file = "a-nccl-env/" + of_b},
                       {.node = "node-a", .file = "a-nccl-env/a18-node-a-ibdev2netdev.txt"},
                       {.node = "node-b", .file = "a-nccl-env/a18-node-b-ibdev2netdev.txt"},
                       {.node = "node-a", .file = "a-nccl-env/a18-node-a-ip-br-addr.txt"},
                       {.node = "node-b", .file = "a-nccl-env/a18-node-b-ip-br-addr.txt"}});
  };
  const auto own = with("a18-node-a.env", "a18-node-b.env");
  EXPECT_EQ(own.text(0, "NCCL_IB_HCA"), c.as("=roceP3p5s0f1"));
  EXPECT_EQ(own.text(1, "NCCL_IB_HCA"), c.as("=roceP3p5s0f0"));
  EXPECT_THAT(own.at_least(Severity::Warning), IsEmpty());
  const fabric::Port* of_a = fabric::port_of(own.facts(2).fabric, c.as("roceP3p5s0f1"), 1);
  const fabric::Port* of_b = fabric::port_of(own.facts(3).fabric, c.as("roceP3p5s0f0"), 1);
  ASSERT_TRUE(of_a && of_b);
  EXPECT_EQ(of_a->netdev, c.as("enP3p5s0f1np1"));
  EXPECT_EQ(of_b->netdev, c.as("enP3p5s0f0np0"));
  EXPECT_EQ(of_a->netdev_up, true);  // Up
  EXPECT_EQ(of_b->netdev_up, true);
  const fabric::Interface* left = fabric::interface_named(own.facts(4).fabric, of_a->netdev);
  const fabric::Interface* right = fabric::interface_named(own.facts(5).fabric, of_b->netdev);
  ASSERT_TRUE(left && right);
  EXPECT_THAT(left->addresses, ElementsAre(c.as("198.51.100.9") + "/30"));
  EXPECT_THAT(right->addresses, ElementsAre(c.as("198.51.100.10") + "/30"));
  EXPECT_TRUE(rdma::in_network(*rdma::parse_address(left->addresses[0]), *rdma::parse_address(right->addresses[0])));

  const auto equal = with("a18-equal.env", "a18-equal.env");
  EXPECT_THAT(on_node(equal, a, Severity::Warning), IsEmpty());
  EXPECT_THAT(on_node(equal, b, Severity::Warning), ElementsAre("NCCL303", "NCCL408"));
  const Finding dead = equal.finding("NCCL303", "NCCL_IB_HCA");
  EXPECT_EQ(dead.severity, Severity::Error);
  EXPECT_THAT(dead.nodes, ElementsAre(b));
  EXPECT_THAT(dead.message, HasSubstr(c.as("roceP3p5s0f1") + " port 1 (" + c.as("enP3p5s0f1np1") + " is down)"));
  const Finding same = equal.finding("NCCL408", "NCCL_IB_HCA");
  EXPECT_EQ(same.severity, Severity::Error);
  EXPECT_THAT(same.nodes, ElementsAre(b));
}

CORPUS(b01, {{"mlx5_4", "mlx4_9"}, {"node-a", "host-x"}, {"node-b", "host-y"}}) {
  const std::string a = c.as("node-a");
  const std::string b = c.as("node-b");
  const auto outcome = c.diagnose({{.node = "node-a", .file = "b-mtu-fabric/b01-node-a-ibv_devinfo.txt"}, {.node = "node-b", .file = "b-mtu-fabric/b01-node-b-ibv_devinfo.txt"}});
  const Finding finding = outcome.finding("NCCL411");
  EXPECT_EQ(finding.severity, Severity::Error);
  EXPECT_EQ(finding.subject, c.as("mlx5_4") + " port 1");
  EXPECT_THAT(finding.nodes, ElementsAre(a, b));
  EXPECT_THAT(finding.message, HasSubstr(c.as("mlx5_4") + " port 1"));
  EXPECT_THAT(finding.message, HasSubstr("4096 on " + a));
  EXPECT_THAT(finding.message, HasSubstr("2048 on " + b));
  for (const size_t document : {0U, 1U}) {
    const fabric::Port* port = fabric::port_of(outcome.facts(document).fabric, c.as("mlx5_4"), 1);
    ASSERT_NE(port, nullptr);
    EXPECT_EQ(port->max_mtu, 4096);
    EXPECT_EQ(port->active_mtu, document == 0 ? 4096 : 2048);
  }
  for (const char* file : {"b-mtu-fabric/b01-node-a-ibv_devinfo.txt", "b-mtu-fabric/b01-node-b-ibv_devinfo.txt"}) {
    EXPECT_THAT(c.diagnose({{.node = "node-a", .file = file}}).at_least(Severity::Unknown), IsEmpty());
  }
}

}  // namespace verl::corpus
