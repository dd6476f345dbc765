// Rules about ports and interfaces: one firing and one near miss each.
#include "diagnosis/judge.h"
#include "tests/unit/diagnosis/fabric/read.h"

namespace verl::fabric {
namespace {

using diagnosis::Finding;
using diagnosis::Findings;
using diagnosis::NodeFacts;
using diagnosis::Policy;
using diagnosis::Severity;

Port port(const std::string& device, double rate = 400, LinkLayer layer = LinkLayer::Infiniband) {
  Port one;
  one.device = device;
  one.state = "ACTIVE";
  one.physical_state = "LinkUp";
  one.link_layer = layer;
  one.rate_gbps = rate;
  return one;
}

Interface interface(const std::string& name, std::int32_t mtu) {
  Interface one;
  one.name = name;
  one.kind = InterfaceKind::Ethernet;
  one.mtu = mtu;
  one.running = true;
  return one;
}

NodeFacts node(std::vector<Port> ports, std::vector<Interface> interfaces = {}) {
  NodeFacts all;
  all.fabric.ports = std::move(ports);
  all.fabric.interfaces = std::move(interfaces);
  return all;
}

Findings judged(const NodeFacts& facts, const Policy& policy = {}) {
  Findings found;
  diagnosis::judge_fabric(facts, policy, found);
  return found;
}

// "id severity", in order.
std::vector<std::string> ids(const Findings& findings) {
  std::vector<std::string> all;
  for (const Finding& one : findings) all.push_back(one.id + " " + std::string(diagnosis::to_string(one.severity)));
  return all;
}

using Ids = std::vector<std::string>;

Port down(const std::string& device, const std::string& physical) {
  Port one = port(device, 10);
  one.state = "DOWN";
  one.physical_state = physical;
  return one;
}

TEST(PortState, OfOnePortAmongActiveOnes) {
  EXPECT_EQ(ids(judged(node({port("a_0"), port("a_1")}))), Ids{});
  EXPECT_EQ(ids(judged(node({port("a_0"), down("a_1", "Disabled")}))), Ids{"rdma-port-unused info"});
  EXPECT_EQ(ids(judged(node({port("a_0"), down("a_1", "Polling")}))), Ids{"rdma-port-state warning"});
  EXPECT_EQ(ids(judged(node({port("a_0"), down("a_1", "")}))), Ids{"rdma-port-state warning"});
  Port waits = port("a_1");
  waits.state = "INIT";
  EXPECT_EQ(ids(judged(node({port("a_0"), waits}))), Ids{"rdma-port-state error"});
}

TEST(PortState, NoneActiveIsAnError) {
  const auto found = judged(node({down("a_0", "Disabled"), down("a_1", "Disabled")}));
  EXPECT_EQ(found.back().subject, "all ports");
  EXPECT_EQ(found.back().severity, Severity::Error);
  EXPECT_EQ(ids(judged(node({down("rxe0", "Disabled")}))), Ids{"rdma-software warning"});
}

TEST(PortState, APolicyThatNamesTheInterfaceWantsThePort) {
  Port off = down("a_1", "Disabled");
  off.netdev = "ens7";
  Policy policy;
  policy.fabric_interfaces = {"ens*"};
  const auto found = judged(node({port("a_0"), off}, {interface("ens7", 9000)}), policy);
  EXPECT_EQ(ids(found), Ids{"rdma-port-state error"});
}

TEST(DeviceCount, CountsActiveHardwareOfOneLayer) {
  Policy policy;
  policy.rdma_devices = 2;
  EXPECT_EQ(ids(judged(node({port("a_0"), port("a_1")}), policy)), Ids{});
  EXPECT_EQ(ids(judged(node({port("a_0"), port("a_bond_0"), port("e_0", 100, LinkLayer::Ethernet)}), policy)), Ids{"rdma-device-count error"});
  EXPECT_EQ(ids(judged(node({port("a_0"), port("rxe0")}), policy)), (Ids{"rdma-software warning", "rdma-device-count error"}));
  Port untold;
  untold.device = "a_1";
  EXPECT_EQ(ids(judged(node({port("a_0"), untold}), policy)), Ids{"rdma-device-count unknown"}) << "its state is not said";
  policy.rdma_devices = 1;
  policy.software_rdma = true;
  EXPECT_EQ(ids(judged(node({port("rxe0", 0, LinkLayer::Ethernet)}), policy)), Ids{});
}

TEST(PortRate, AgainstPolicySiblingsAndDesign) {
  Policy policy;
  policy.link_gbps_min = 400;
  EXPECT_EQ(ids(judged(node({port("a_0"), port("a_1")}), policy)), Ids{});
  EXPECT_EQ(ids(judged(node({port("a_0"), port("a_1", 200)}), policy)), Ids{"rdma-port-rate error"});
  Port silent = port("a_1");
  silent.rate_gbps.reset();
  EXPECT_EQ(ids(judged(node({port("a_0"), silent}), policy)), Ids{"rdma-port-rate unknown"});
  EXPECT_EQ(ids(judged(node({port("a_0"), port("a_1"), port("a_2", 200)}))), Ids{"rdma-port-rate warning"});
  EXPECT_EQ(ids(judged(node({port("a_0"), port("a_1"), port("a_2", 100)}))), Ids{"rdma-port-rate info"}) << "may be another card";
  Port lanes = port("a_2", 100);
  lanes.rate_text = "1X NDR";
  Port full = port("a_0");
  full.rate_text = "4X NDR";
  EXPECT_EQ(ids(judged(node({full, full, lanes}))), Ids{"rdma-port-rate warning"}) << "one lane of four";
  Port storage = port("a_2", 200);
  storage.model = "MT4123";
  Port compute = port("a_0");
  compute.model = "MT4129";
  EXPECT_EQ(ids(judged(node({compute, compute, storage}))), Ids{}) << "another model is no sibling";
  Port named = port("a_0", 100);
  named.netdev = "ib0";
  Interface ib = interface("ib0", 2044);
  ib.kind = InterfaceKind::Infiniband;
  ib.speed_mbps = 200000;
  EXPECT_EQ(ids(judged(node({named}, {ib}))), Ids{"rdma-port-rate warning"});
  ib.speed_mbps = 100000;
  EXPECT_EQ(ids(judged(node({named}, {ib}))), Ids{});
}

Port roce(const std::string& device, const std::string& netdev) {
  Port one = port(device, 100, LinkLayer::Ethernet);
  one.netdev = netdev;
  return one;
}

TEST(ActiveMtu, IsSaidOrDerived) {
  Policy policy;
  policy.gpudirect = true;
  EXPECT_EQ(ids(judged(node({roce("a_0", "ens7")}, {interface("ens7", 4192)}), policy)), Ids{});
  EXPECT_EQ(ids(judged(node({roce("a_0", "ens7")}, {interface("ens7", 4191)}), policy)), Ids{"mtu-roce-active error"});
  EXPECT_EQ(ids(judged(node({roce("a_0", "ens7")}), policy)), Ids{"mtu-roce-active unknown"});
  EXPECT_EQ(ids(judged(node({roce("a_0", "ens7")}, {interface("ens7", 1500)}))), Ids{"mtu-roce-active warning"});
  policy.gpudirect = false;
  policy.rdma_mtu_min = 1024;
  EXPECT_EQ(ids(judged(node({roce("a_0", "ens7")}, {interface("ens7", 1500)}), policy)), Ids{}) << "1024 is enough here";
  Port stale = roce("a_0", "ens7");
  stale.active_mtu = 1024;
  stale.max_mtu = 4096;
  EXPECT_EQ(ids(judged(node({stale}, {interface("ens7", 9000)}), policy)), Ids{"mtu-roce-stale warning"});
  stale.max_mtu = 1024;
  EXPECT_EQ(ids(judged(node({stale}, {interface("ens7", 9000)}), policy)), Ids{}) << "the device allows no more";
}

TEST(InterfaceMtu, IsJudgedOnFabricInterfacesAlone) {
  Policy policy;
  policy.mtu_min = 9000;
  EXPECT_EQ(ids(judged(node({}, {interface("eno1", 1500)}), policy)), Ids{}) << "nothing says that the job uses it";
  EXPECT_EQ(ids(judged(node({roce("a_0", "ens7")}, {interface("ens7", 8999)}), policy)), Ids{"mtu-interface error"});
  policy.fabric_interfaces = {"ens7"};
  EXPECT_EQ(ids(judged(node({}, {interface("ens7", 9000), interface("eno1", 1500)}), policy)), Ids{});
  Interface untold = interface("ens7", 1);
  untold.mtu.reset();
  EXPECT_EQ(ids(judged(node({}, {untold}), policy)), Ids{"mtu-interface unknown"});
  EXPECT_EQ(ids(judged(node({}, {interface("eno1", 9000)}), policy)), Ids{"link-state unknown"}) << "the named one is not shown";
  Interface dead = interface("ens7", 9000);
  dead.running = false;
  EXPECT_EQ(ids(judged(node({}, {dead}), policy)), Ids{"link-state error"});
}

TEST(InterfaceMtu, BondAndConfiguration) {
  Interface bond = interface("bond0", 9000);
  bond.kind = InterfaceKind::Bond;
  Interface member = interface("ens7", 1500);
  member.master = "bond0";
  EXPECT_EQ(ids(judged(node({}, {bond, member}))), Ids{"mtu-interface warning"});
  member.mtu = 9000;
  EXPECT_EQ(ids(judged(node({}, {bond, member}))), Ids{});
  member.configured_mtu = 9192;
  EXPECT_EQ(ids(judged(node({}, {bond, member}))), (Ids{"mtu-drift error", "mtu-drift error"})) << "the bond's configuration is its members'";
}

TEST(InterfaceSpeed, OfABondIsItsMembers) {
  Policy policy;
  policy.link_gbps_min = 200;
  policy.fabric_interfaces = {"bond0"};
  Interface bond = interface("bond0", 9000);
  bond.kind = InterfaceKind::Bond;
  Interface one = interface("ens7", 9000);
  one.master = "bond0";
  Interface two = interface("ens8", 9000);
  two.master = "bond0";
  bond.speed_mbps = 400000;
  EXPECT_EQ(ids(judged(node({}, {bond, one, two}), policy)), Ids{});
  bond.speed_mbps = 200000;
  EXPECT_EQ(ids(judged(node({}, {bond, one, two}), policy)), Ids{"link-speed error"});
  bond.speed_mbps.reset();
  EXPECT_EQ(ids(judged(node({}, {bond, one, two}), policy)), Ids{"link-speed unknown"});
}

rdma::GidEntry gid(std::int32_t index, const char* text, const char* type) { return {.index = index, .gid = *rdma::parse_gid(text), .type = type}; }

TEST(RoceGid, NeedsARoutableAddress) {
  constexpr const char* kLocal = "fe80:0000:0000:0000:0200:5eff:fe00:5301";
  constexpr const char* kIpv4 = "0000:0000:0000:0000:0000:ffff:c000:0207";
  constexpr const char* kIpv6 = "2001:0db8:0000:0000:0000:0000:0000:0007";
  Port none = port("a_0", 100, LinkLayer::Ethernet);
  none.gids = {gid(0, kLocal, "IB/RoCE v1"), gid(1, kLocal, "RoCE v2")};
  EXPECT_EQ(ids(judged(node({none}))), Ids{"roce-gid error"});
  Port good = port("a_1", 100, LinkLayer::Ethernet);
  good.gids = {gid(3, kIpv4, "RoCE v2")};
  EXPECT_EQ(ids(judged(node({none, good}))), Ids{"roce-gid warning"});
  EXPECT_EQ(ids(judged(node({good}))), Ids{});
  Port v6 = port("a_2", 100, LinkLayer::Ethernet);
  v6.gids = {gid(2, kIpv6, "RoCE v2")};
  EXPECT_EQ(ids(judged(node({v6}))), Ids{"roce-gid-ipv4 info"});
  none.link_layer = LinkLayer::Infiniband;
  EXPECT_EQ(ids(judged(node({none}))), Ids{}) << "InfiniBand GIDs have no version";
}

TEST(SubnetManager, IsWhereTheLidsAreEqual) {
  Port one = port("a_0");
  one.lid = 3;
  one.sm_lid = 3;
  EXPECT_EQ(ids(judged(node({one}))), Ids{"rdma-subnet-manager info"});
  one.lid = 4;
  EXPECT_EQ(ids(judged(node({one}))), Ids{});
  one.link_layer = LinkLayer::Ethernet;
  one.lid = 0;
  one.sm_lid = 0;
  EXPECT_EQ(ids(judged(node({one}))), Ids{}) << "RoCE prints zeros";
}

Findings compared(const NodeFacts& a, const NodeFacts& b, const Policy& policy = {}) {
  Findings found;
  diagnosis::compare_fabric({{"node-a", a}, {"node-b", b}}, policy, found);
  return found;
}

TEST(Nodes, DifferInLayerNumberRateMtuAndFirmware) {
  EXPECT_EQ(ids(compared(node({port("a_0")}), node({port("b_7")}))), Ids{}) << "names may differ";
  EXPECT_EQ(ids(compared(node({port("a_0")}), node({port("a_0", 200)}))), Ids{"fabric-differs warning"});
  EXPECT_EQ(ids(compared(node({port("a_0")}), node({port("a_0"), port("a_1")}))), Ids{"fabric-differs warning"});
  EXPECT_EQ(ids(compared(node({port("a_0")}), node({port("a_0", 400, LinkLayer::Ethernet)}))), Ids{"fabric-differs error"});
  EXPECT_EQ(ids(compared(node({roce("a_0", "ens7")}, {interface("ens7", 9000)}), node({roce("a_0", "ens8")}, {interface("ens8", 4200)}))), Ids{"mtu-interface warning"});
  Port old = port("a_0");
  old.model = "MT4129";
  old.firmware = "28.39.1002";
  Port recent = old;
  recent.firmware = "28.42.1000";
  const auto found = compared(node({old}), node({recent}));
  EXPECT_EQ(ids(found), Ids{"rdma-firmware warning"});
  EXPECT_EQ(found.at(0).nodes, (Ids{"node-a", "node-b"}));
  EXPECT_EQ(ids(compared(node({old}), node({old}))), Ids{});
}

}  // namespace
}  // namespace verl::fabric
