#include "diagnosis/nccl/fleet.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <set>

#include "arrange.h"
#include "diagnosis/nccl/rule_tables.h"

namespace verl::nccl {
namespace {

using diagnosis::Finding;
using diagnosis::Findings;
using diagnosis::Fleet;
using diagnosis::NodeFacts;
using diagnosis::Policy;
using fabric::LinkLayer;

Findings compared(const Fleet& fleet, const Policy& policy = {}) {
  Findings found;
  for (const auto& [name, facts] : fleet) judge_ranks(facts, policy, found);
  compare_fleet(fleet, policy, found);
  return found;
}

struct Row {
  std::string id;
  std::string what;
  std::string severity;  // empty: the rule keeps still
  std::function<void(NodeFacts& a, NodeFacts& b)> arrange;
};

Findings pair(const std::function<void(NodeFacts&, NodeFacts&)>& arrange) {
  Fleet fleet;
  arrange(fleet["n-a"], fleet["n-b"]);
  return compared(fleet);
}

void both(NodeFacts& a, NodeFacts& b, const std::string& name, const std::string& of_a, const std::string& of_b) {
  set(a, name, of_a);
  set(b, name, of_b);
}

// Another environment of the node, with one setting.
void rank(NodeFacts& node, std::string origin, std::string name, std::string value) {
  Environment environment;
  environment.origin = std::move(origin);
  SettingAt at;
  at.setting = {.name = std::move(name), .value = std::move(value)};
  environment.settings.push_back(at);
  node.nccl.environments.push_back(environment);
}

void conf(NodeFacts& node, std::string name, std::string value) {
  rank(node, "/etc/nccl.conf", std::move(name), std::move(value));
  node.nccl.environments.back().kind = EnvironmentKind::Conf;
}

void rails(NodeFacts& node, size_t count) {
  for (size_t i = 0; i < count; ++i) add_port(node, "hfi_" + std::to_string(i), LinkLayer::Infiniband).active_mtu = 4096;
}

fabric::Port& roce(NodeFacts& node) {
  fabric::Port& port = add_port(node, "roce_4", LinkLayer::Ethernet);
  port.active_mtu = 4096;
  port.gids = gid_table();
  return port;
}

const std::vector<Row>& rows() {
  static const std::vector<Row> kRows{
      {"NCCL401", "other buffers", "error", [](NodeFacts& a, NodeFacts& b) { both(a, b, "NCCL_BUFFSIZE", "2097152", "1048576"); }},
      {"NCCL401", "the same number written otherwise", "", [](NodeFacts& a, NodeFacts& b) { both(a, b, "NCCL_BUFFSIZE", "2097152", "0x200000"); }},
      {"NCCL401", "the same algorithm in other letters", "", [](NodeFacts& a, NodeFacts& b) { both(a, b, "NCCL_ALGO", "Ring", "ring"); }},
      {"NCCL401", "names of interfaces are each node's own", "", [](NodeFacts& a, NodeFacts& b) { both(a, b, "NCCL_SOCKET_IFNAME", "ens7", "eth2"); both(a, b, "NCCL_IB_HCA", "x", "y"); both(a, b, "NCCL_IB_GID_INDEX", "3", "5"); both(a, b, "NCCL_TOPO_FILE", "/a", "/b"); }},
      {"NCCL401", "trainer and rollout are no communicator", "", [](NodeFacts& a, NodeFacts& b) { rank(a, "pool trainer", "NCCL_BUFFSIZE", "2097152"); rank(b, "pool rollout", "NCCL_BUFFSIZE", "1048576"); }},
      {"NCCL401", "two trainers are one", "error", [](NodeFacts& a, NodeFacts& b) { rank(a, "pod j-0 container trainer", "NCCL_BUFFSIZE", "2097152"); rank(b, "pod j-1 container trainer", "NCCL_BUFFSIZE", "1048576"); }},
      {"NCCL402", "on one node only", "error", [](NodeFacts& a, NodeFacts& b) { set(a, "NCCL_PROTO", "Simple"); nothing_set(b); }},
      {"NCCL402", "the default written out", "", [](NodeFacts& a, NodeFacts& b) { set(a, "NCCL_BUFFSIZE", "4194304"); nothing_set(b); }},
      {"NCCL402", "of the other nothing is known", "", [](NodeFacts& a, NodeFacts&) { set(a, "NCCL_PROTO", "Simple"); }},
      {"NCCL402", "the file says what the environment of the other says", "", [](NodeFacts& a, NodeFacts& b) { set(a, "NCCL_PROTO", "Simple"); nothing_set(b); conf(b, "NCCL_PROTO", "Simple"); }},
      {"NCCL403", "other time-outs", "warning", [](NodeFacts& a, NodeFacts& b) { both(a, b, "NCCL_IB_TIMEOUT", "20", "22"); }},
      {"NCCL403", "a name nobody knows", "info", [](NodeFacts& a, NodeFacts& b) { both(a, b, "NCCL_VENDOR_THING", "1", "2"); }},
      {"NCCL403", "equal", "", [](NodeFacts& a, NodeFacts& b) { both(a, b, "NCCL_IB_TIMEOUT", "22", "22"); }},
      {"NCCL404", "ranks of a node", "error", [](NodeFacts& a, NodeFacts&) { rank(a, "rank 0", "NCCL_SHM_DISABLE", "1"); rank(a, "rank 1", "NCCL_SHM_DISABLE", "0"); }},
      {"NCCL404", "files that say no rank", "", [](NodeFacts& a, NodeFacts&) { rank(a, "", "NCCL_SHM_DISABLE", "1"); rank(a, "", "NCCL_SHM_DISABLE", "0"); }},
      {"NCCL404", "ranks of two nodes", "", [](NodeFacts& a, NodeFacts& b) { both(a, b, "NCCL_SHM_DISABLE", "1", "0"); }},
      {"NCCL405", "two libraries", "error", [](NodeFacts& a, NodeFacts& b) { a.nccl.loaded_version = "2.21.5"; b.nccl.loaded_version = "2.22.3"; }},
      {"NCCL405", "one library by two names", "", [](NodeFacts& a, NodeFacts& b) { a.nccl.loaded_version = "2.21.5+cuda12.4"; b.nccl.loaded_version = "2.21.5"; }},
      {"NCCL406", "one id for two", "error", [](NodeFacts& a, NodeFacts& b) { both(a, b, "NCCL_HOSTID", "x", "x"); }},
      {"NCCL406", "empty is an id", "error", [](NodeFacts& a, NodeFacts& b) { both(a, b, "NCCL_HOSTID", "", ""); }},
      {"NCCL406", "two ids for one", "error", [](NodeFacts& a, NodeFacts&) { rank(a, "rank 0", "NCCL_HOSTID", "x"); rank(a, "rank 1", "NCCL_HOSTID", "y"); }},
      {"NCCL406", "each its own", "", [](NodeFacts& a, NodeFacts& b) { both(a, b, "NCCL_HOSTID", "x", "y"); }},
      {"NCCL407", "two hostnames", "warning", [](NodeFacts& a, NodeFacts&) { a.nccl.host.processes = {{.name = "pod p", .hostname = "p", .network_namespace = ""}, {.name = "pod q", .hostname = "q", .network_namespace = ""}}; }},
      {"NCCL407", "one id over both", "", [](NodeFacts& a, NodeFacts&) { set(a, "NCCL_HOSTID", "x"); a.nccl.host.processes = {{.name = "pod p", .hostname = "p", .network_namespace = ""}, {.name = "pod q", .hostname = "q", .network_namespace = ""}}; }},
      {"NCCL408", "dead on the other", "error", [](NodeFacts& a, NodeFacts& b) { both(a, b, "NCCL_IB_HCA", "=hfi_0", "=hfi_0"); rails(a, 1); add_port(b, "hfi_0", LinkLayer::Infiniband, "DOWN"); add_port(b, "hfi_1", LinkLayer::Infiniband); }},
      {"NCCL408", "no such interface there", "error", [](NodeFacts& a, NodeFacts& b) { both(a, b, "NCCL_SOCKET_IFNAME", "ens7", "ens7"); add_interface(a, "ens7", {"192.0.2.1/24"}); add_interface(b, "eth2", {"192.0.2.2/24"}); }},
      {"NCCL408", "another GID there", "error", [](NodeFacts& a, NodeFacts& b) { both(a, b, "NCCL_IB_GID_INDEX", "3", "3"); roce(a); roce(b).gids.resize(3); }},
      {"NCCL408", "a list for both", "", [](NodeFacts& a, NodeFacts& b) { both(a, b, "NCCL_SOCKET_IFNAME", "ens7,eth2", "ens7,eth2"); add_interface(a, "ens7", {"192.0.2.1/24"}); add_interface(b, "eth2", {"192.0.2.2/24"}); }},
      {"NCCL408", "dead on both is no difference", "", [](NodeFacts& a, NodeFacts& b) { both(a, b, "NCCL_IB_HCA", "=hfi_9", "=hfi_9"); rails(a, 1); rails(b, 1); }},
      {"NCCL409", "a rail less", "error", [](NodeFacts& a, NodeFacts& b) { rails(a, 4); rails(b, 3); add_port(b, "hfi_3", LinkLayer::Infiniband, "DOWN"); }},
      {"NCCL409", "no rail at all", "error", [](NodeFacts& a, NodeFacts& b) { rails(a, 1); add_port(b, "hfi_0", LinkLayer::Infiniband, "DOWN"); }},
      {"NCCL409", "no rail by its own list is another rule's", "", [](NodeFacts& a, NodeFacts& b) { rails(a, 1); rails(b, 1); set(b, "NCCL_IB_HCA", "=hfi_9"); }},
      {"NCCL409", "a bond is no rail", "", [](NodeFacts& a, NodeFacts& b) { rails(a, 2); rails(b, 2); add_port(b, "hfi_bond_0", LinkLayer::Ethernet); }},
      {"NCCL409", "the list leaves as many", "", [](NodeFacts& a, NodeFacts& b) { rails(a, 2); rails(b, 3); set(a, "NCCL_IB_HCA", "hfi"); set(b, "NCCL_IB_HCA", "^=hfi_2"); }},
      {"NCCL409", "names alone prove nothing", "", [](NodeFacts& a, NodeFacts& b) { rails(a, 2); add_port(b, "hfi_0", LinkLayer::Unknown, ""); }},
      {"NCCL410", "half the rate", "error", [](NodeFacts& a, NodeFacts& b) { rails(a, 2); rails(b, 2); b.fabric.ports[1].rate_gbps = 200; }},
      {"NCCL410", "another layer", "error", [](NodeFacts& a, NodeFacts& b) { rails(a, 1); add_port(b, "hfi_0", LinkLayer::Ethernet); }},
      {"NCCL410", "equal", "", [](NodeFacts& a, NodeFacts& b) { rails(a, 2); rails(b, 2); }},
      {"NCCL411", "version unknown", "error", [](NodeFacts& a, NodeFacts& b) { roce(a); roce(b).active_mtu = 2048; }},
      {"NCCL411", "2.27 keeps the larger", "error", [](NodeFacts& a, NodeFacts& b) { a.nccl.loaded_version = b.nccl.loaded_version = "2.27.3"; roce(a); roce(b).active_mtu = 2048; }},
      {"NCCL411", "2.30.3 takes the smaller", "warning", [](NodeFacts& a, NodeFacts& b) { a.nccl.loaded_version = b.nccl.loaded_version = "2.30.3"; roce(a); roce(b).active_mtu = 2048; }},
      {"NCCL411", "2.19.4 takes the smaller", "warning", [](NodeFacts& a, NodeFacts& b) { a.nccl.loaded_version = b.nccl.loaded_version = "2.19.4"; roce(a); roce(b).active_mtu = 2048; }},
      {"NCCL411", "max_mtu is not compared", "", [](NodeFacts& a, NodeFacts& b) { roce(a).max_mtu = 4096; roce(b).max_mtu = 2048; }},
      {"NCCL412", "another family", "error", [](NodeFacts& a, NodeFacts& b) { roce(a); auto& port = roce(b); port.gids.resize(2); port.gids.push_back(gid(2, "2001:0db8:0000:0000:0000:0000:0000:0005", "RoCE v2")); set(b, "NCCL_IB_GID_INDEX", "2"); set(a, "NCCL_IB_GID_INDEX", "3"); }},
      {"NCCL412", "other indexes of one kind", "", [](NodeFacts& a, NodeFacts& b) { roce(a); auto& port = roce(b); port.gids[3].index = 5; }},
      {"NCCL413", "another partition", "error", [](NodeFacts& a, NodeFacts& b) { rails(a, 1); rails(b, 1); a.nccl.host.partitions["hfi_0/1"] = {0xFFFF, 0x8002}; b.nccl.host.partitions["hfi_0/1"] = {0x8003}; }},
      {"NCCL413", "another membership of one partition", "", [](NodeFacts& a, NodeFacts& b) { rails(a, 1); rails(b, 1); a.nccl.host.partitions["hfi_0/1"] = {0xFFFF}; b.nccl.host.partitions["hfi_0/1"] = {0x7FFF}; }},
      {"NCCL414", "IPv4 and IPv6", "error", [](NodeFacts& a, NodeFacts& b) { add_interface(a, "ens7", {"192.0.2.1/24"}); add_interface(b, "ens7", {"2001:db8::2/64"}); }},
      {"NCCL414", "the same bridge address", "error", [](NodeFacts& a, NodeFacts& b) { add_interface(a, "br-1", {"172.18.0.1/16"}); add_interface(b, "br-2", {"172.18.0.1/16"}); }},
      {"NCCL414", "two networks may be routed", "", [](NodeFacts& a, NodeFacts& b) { add_interface(a, "ens7", {"192.0.2.1/30"}); add_interface(b, "ens7", {"192.0.2.9/30"}); }},
      {"NCCL415", "another plugin", "error", [](NodeFacts& a, NodeFacts& b) { a.nccl.host.files["/x/libnccl-net.so"].digest = "1"; b.nccl.host.files["/x/libnccl-net.so"].digest = "2"; }},
      {"NCCL415", "the same plugin", "", [](NodeFacts& a, NodeFacts& b) { a.nccl.host.files["/x/libnccl-net.so"].digest = "1"; b.nccl.host.files["/x/libnccl-net.so"].digest = "1"; }},
      {"NCCL416", "hidden by the environment", "warning", [](NodeFacts& a, NodeFacts& b) { both(a, b, "NCCL_PROTO", "Simple", "Simple"); conf(a, "NCCL_PROTO", "LL"); conf(b, "NCCL_PROTO", "Simple"); }},
      {"NCCL416", "interfaces may differ", "", [](NodeFacts& a, NodeFacts& b) { conf(a, "NCCL_SOCKET_IFNAME", "ens7"); conf(b, "NCCL_SOCKET_IFNAME", "eth2"); }},
      {"NCCL417", "other graphs of one machine", "warning", [](NodeFacts& a, NodeFacts& b) { a.nccl.host.instance_type = b.nccl.host.instance_type = "x8"; a.nccl.host.files["/t.xml"].digest = "1"; b.nccl.host.files["/t.xml"].digest = "2"; }},
      {"NCCL417", "two kinds of machine", "", [](NodeFacts& a, NodeFacts& b) { a.nccl.host.instance_type = "x8"; b.nccl.host.instance_type = "x4"; a.nccl.host.files["/t.xml"].digest = "1"; b.nccl.host.files["/t.xml"].digest = "2"; }},
      {"NCCL418", "another driver branch", "warning", [](NodeFacts& a, NodeFacts& b) { a.nccl.host.driver = "570.124.06"; b.nccl.host.driver = "550.90.07"; }},
      {"NCCL418", "one branch", "", [](NodeFacts& a, NodeFacts& b) { a.nccl.host.driver = "570.124.06"; b.nccl.host.driver = "570.86.10"; }},
      {"NCCL419", "the other way round", "warning", [](NodeFacts& a, NodeFacts& b) { rails(a, 2); rails(b, 2); a.fabric.ports[0].pci = b.fabric.ports[1].pci = "0000:1a:00.0"; a.fabric.ports[1].pci = b.fabric.ports[0].pci = "0000:3c:00.0"; }},
      {"NCCL419", "other addresses, same order", "", [](NodeFacts& a, NodeFacts& b) { rails(a, 2); rails(b, 2); a.fabric.ports[0].pci = "0000:1a:00.0"; a.fabric.ports[1].pci = "0000:3c:00.0"; b.fabric.ports[0].pci = "0000:2a:00.0"; b.fabric.ports[1].pci = "0000:4c:00.0"; }},
  };
  return kRows;
}

TEST(NcclFleet, FiresWhereItShouldAndKeepsStillBeside) {
  for (const Row& row : rows()) {
    const Findings found = pair(row.arrange);
    const Findings own = of(found, row.id);
    const std::string got = own.empty() ? "" : std::string(diagnosis::to_string(own.front().severity));
    EXPECT_EQ(got, row.severity) << row.id << ": " << row.what << (own.empty() ? "" : "\n" + own.front().message);
  }
}

TEST(NcclFleet, HasAFiringCaseAndANearMissForEachRule) {
  std::set<std::string> firing;
  std::set<std::string> still;
  for (const Row& row : rows()) (row.severity.empty() ? still : firing).insert(row.id);
  std::set<std::string> all;
  for (const diagnosis::Rule& rule : fleet_rules()) all.emplace(rule.id);
  EXPECT_EQ(all.size(), 19U);
  EXPECT_EQ(*all.begin(), "NCCL401");
  EXPECT_EQ(*all.rbegin(), "NCCL419");
  EXPECT_EQ(firing, all);
  EXPECT_EQ(still, all);
}

TEST(NcclFleet, NamesBothNodesAndBothValues) {
  const Findings found = pair([](NodeFacts& a, NodeFacts& b) { both(a, b, "NCCL_BUFFSIZE", "2097152", "1048576"); });
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].message, "NCCL_BUFFSIZE differs: 1048576 on n-b; 2097152 on n-a");
  EXPECT_EQ(found[0].nodes, (std::vector<std::string>{"n-a", "n-b"}));
  EXPECT_EQ(found[0].evidence.size(), 2U);
}

TEST(NcclFleet, PutsManyNodesIntoOneFinding) {
  Fleet fleet;
  for (int i = 0; i < 300; ++i) {
    NodeFacts& node = fleet["n" + std::to_string(i)];
    set(node, "NCCL_ALGO", i % 3 == 0 ? "Tree" : "Ring");
    rails(node, 8);
    if (i == 7) {
      for (auto& port : node.fabric.ports) port.active_mtu = 2048;
    }
  }
  const Findings found = compared(fleet);
  ASSERT_EQ(brief(found), (std::vector<std::string>{"NCCL401 error", "NCCL411 error"}));
  EXPECT_EQ(found[0].nodes.size(), 100U);
  EXPECT_EQ(found[0].wanted, "Ring");
  EXPECT_EQ(found[0].seen, "Tree");
  EXPECT_EQ(found[1].nodes, std::vector<std::string>{"n7"});
  EXPECT_EQ(found[1].wanted, "4096");
}

TEST(NcclFleet, SortsAThousandNodesInsteadOfComparingPairs) {
  Fleet fleet;
  for (int i = 0; i < 1000; ++i) {
    NodeFacts& node = fleet["n" + std::to_string(i)];
    for (int j = 0; j < 60; ++j) set(node, "NCCL_VENDOR_" + std::to_string(j), i == j ? "odd" : "even");
    rails(node, 8);
    add_interface(node, "ens7", {"10.0." + std::to_string(i / 250) + "." + std::to_string(i % 250 + 1) + "/16"});
  }
  const auto start = std::chrono::steady_clock::now();
  Findings found;
  compare_fleet(fleet, Policy{}, found);
  const auto took = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(found.size(), 60U);
  EXPECT_LT(took, std::chrono::seconds(5));  // 100 ms when optimised; a million pairs would take minutes
  RecordProperty("milliseconds", static_cast<int>(std::chrono::duration_cast<std::chrono::milliseconds>(took).count()));
}

TEST(NcclFleet, MeetsRailsByPlaceWhereNamesDiffer) {
  const Findings found = pair([](NodeFacts& a, NodeFacts& b) {
    rails(a, 2);
    for (const std::string name : {"rdmap1", "rdmap2"}) add_port(b, name, LinkLayer::Infiniband).active_mtu = 4096;
    b.fabric.ports[1].active_mtu = 1024;
  });
  ASSERT_EQ(brief(found), std::vector<std::string>{"NCCL411 error"});
  EXPECT_EQ(found[0].subject, "rail 01");
}

TEST(NcclFleet, BlamesTheNodeWithoutRailsAlone) {
  const Findings found = pair([](NodeFacts& a, NodeFacts& b) {
    rails(a, 1);
    add_port(b, "hfi_0", LinkLayer::Infiniband, "DOWN");
  });
  ASSERT_EQ(brief(found), std::vector<std::string>{"NCCL409 error"});
  EXPECT_EQ(found[0].nodes, std::vector<std::string>{"n-b"});
}

TEST(NcclFleet, NumbersOfRanksMakeNoGroups) {
  EXPECT_EQ(group_of("rank 3"), "");
  EXPECT_EQ(group_of("local rank 3"), "");
  EXPECT_EQ(group_of("pod ppo-0 container trainer"), "container trainer");
  EXPECT_EQ(group_of("container trainer rank 12"), "container trainer");
  EXPECT_EQ(group_of("pool rollout"), "pool rollout");
  EXPECT_EQ(group_of("rank"), "rank");
}

TEST(NcclFleet, ComparesEachSettingWithTheDefaultOfItsRelease) {
  const auto found = [](const std::string& version) {
    return brief(pair([&](NodeFacts& a, NodeFacts& b) {
      a.nccl.loaded_version = b.nccl.loaded_version = version;
      set(a, "NCCL_IB_TIMEOUT", "20");
      nothing_set(b);
    }));
  };
  EXPECT_TRUE(found("2.27.3").empty());
  EXPECT_EQ(found("2.21.5"), std::vector<std::string>{"NCCL403 warning"});
  EXPECT_EQ(found(""), std::vector<std::string>{"NCCL403 warning"});
}

}  // namespace
}  // namespace verl::nccl
