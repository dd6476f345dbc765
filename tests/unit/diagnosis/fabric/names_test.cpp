// Tools that name devices and interfaces: ibdev2netdev, lists of HCAs, ip, ibv_devinfo.
#include "diagnosis/fabric/names.h"
#include "tests/unit/diagnosis/fabric/read.h"

namespace verl::fabric {
namespace {

TEST(Ibdev2netdev, UpAndDownAreTheInterfaces) {
  const auto document = read("hca_0 port 1 ==> ibp7s0 (Down)\nhca_1 port 2 ==> ens9f0np0 (Up)\nhca_2 port 1 ==>  (Down)\n");
  EXPECT_EQ(document.format, "ibdev2netdev");
  const Facts facts = facts_of(document);
  ASSERT_EQ(facts.ports.size(), 3U);
  EXPECT_EQ(facts.ports[0].device, "hca_0");
  EXPECT_EQ(facts.ports[0].netdev, "ibp7s0");
  EXPECT_EQ(facts.ports[0].netdev_up, false);
  EXPECT_EQ(facts.ports[0].state, "") << "of the port nothing is said";
  EXPECT_EQ(facts.ports[1].port, 2);
  EXPECT_EQ(facts.ports[1].netdev_up, true);
  EXPECT_EQ(facts.ports[2].netdev, "");
  ASSERT_EQ(facts.interfaces.size(), 2U);
  EXPECT_EQ(facts.interfaces[0].kind, InterfaceKind::Infiniband);
  EXPECT_EQ(facts.interfaces[1].running, true);
  EXPECT_TRUE(document.reading.unread.empty());
}

TEST(Ibdev2netdev, VerboseSaysTheStateOfThePort) {
  const auto document = read(
      "0000:3b:00.0 mlx5_0 (MT4129 - MCX75310AAS) ConnectX-7 VPI adapter card, 400Gb/s, PCIe 5.0 x16   fw 28.39.1002 port 1 (ACTIVE) ==> ibs3 (Down)\n"
      "mlx5_1 (mt4123 - x) fw 20.31.1014 port 1 (DOWN  ) ==> ens4 (Down)\nsomething else\n");
  EXPECT_EQ(document.format, "ibdev2netdev");
  const Facts facts = facts_of(document);
  ASSERT_EQ(facts.ports.size(), 2U);
  EXPECT_EQ(facts.ports[0].state, "ACTIVE");
  EXPECT_EQ(facts.ports[0].pci, "0000:3b:00.0");
  EXPECT_EQ(facts.ports[0].firmware, "28.39.1002");
  EXPECT_EQ(facts.ports[1].state, "DOWN");
  ASSERT_EQ(document.reading.unread.size(), 1U);
  EXPECT_EQ(document.reading.unread[0].line, 3);
}

TEST(HcaList, IsOneNameAWordHoweverLaidOut) {
  for (const char* text : {"mlx5_0\nmlx5_10\nmlx5_2\n", "mlx5_0  mlx5_10  mlx5_2\n", "3 HCAs found:\n\tmlx5_0\n\tmlx5_10\n\tmlx5_2\n\n",
                           "    device          \t   node GUID\n    ------          \t----------------\n    mlx5_0 \t02005efffe005331\n    mlx5_10\t02005efffe005332\n"
                           "    mlx5_2\t02005efffe005333\n"}) {
    const auto document = read(text);
    EXPECT_EQ(document.format, "hca-list") << text;
    const Facts facts = facts_of(document);
    ASSERT_EQ(facts.ports.size(), 3U) << text;
    EXPECT_EQ(facts.ports[1].device, "mlx5_10");
    EXPECT_TRUE(document.reading.unread.empty());
  }
}

TEST(HcaList, TakesNamesOfAllDrivers) {
  for (const char* name : {"bnxt_re0", "bnxt_re_bond0", "rocep59s0f1", "ibp24s0", "rdmap16s27", "efa_0", "hrn3_1", "rxe0", "hfi7_3", "roceP3p5s0f0", "mlx5_bond_0", "irdma1"}) {
    EXPECT_EQ(read(std::string(name) + "\n").format, "hca-list") << name;
  }
  for (const char* other : {"eth0\neth1\n", "gpu-node-1\ngpu-node-2\n", "true\n", ""}) EXPECT_NE(read(other).format, "hca-list") << other;
}

constexpr const char* kFull =
    "1: lo: <LOOPBACK,UP,LOWER_UP> mtu 65536 qdisc noqueue state UNKNOWN group default qlen 1000\n"
    "    link/loopback 00:00:00:00:00:00 brd 00:00:00:00:00:00\n"
    "    inet 127.0.0.1/8 scope host lo\n"
    "       valid_lft forever preferred_lft forever\n"
    "2: ens3f0np0: <BROADCAST,MULTICAST,SLAVE,UP,LOWER_UP> mtu 9000 qdisc mq master bond0 state UP group default qlen 1000\n"
    "    link/ether 02:00:5e:00:53:01 brd ff:ff:ff:ff:ff:ff permaddr 02:00:5e:00:53:02\n"
    "    altname enp59s0f0np0\n"
    "3: ibs9: <NO-CARRIER,BROADCAST,MULTICAST,UP> mtu 2044 qdisc mq state DOWN group default qlen 256\n"
    "    link/infiniband 00:00:10:49:fe:80:00:00:00:00:00:00:02:00:5e:00:53:00:11:22 brd 00:ff:ff:ff:ff:12:40:1b:ff:ff:00:00:00:00:00:00:ff:ff:ff:ff\n"
    "4: bond0: <BROADCAST,MULTICAST,MASTER,UP,LOWER_UP> mtu 9000 qdisc noqueue state UP group default qlen 1000\n"
    "    link/ether 02:00:5e:00:53:01 brd ff:ff:ff:ff:ff:ff promiscuity 0 minmtu 68 maxmtu 65535\n"
    "    bond mode 802.3ad miimon 100\n"
    "    inet 192.0.2.31/27 brd 192.0.2.63 scope global noprefixroute bond0\n"
    "       valid_lft forever preferred_lft forever\n"
    "    inet6 fe80::5eff:fe00:5301/64 scope link\n"
    "    RX:  bytes packets errors dropped  missed   mcast\n"
    "    121342  1021      0       0       0       0\n"
    "7: veth12ab@if2: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1450 qdisc noqueue master cni0 state UP group default\n"
    "    link/ether 02:00:5e:00:53:09 brd ff:ff:ff:ff:ff:ff link-netnsid 0\n";

TEST(IpAddress, FullListing) {
  const auto document = read(kFull);
  EXPECT_EQ(document.format, "ip-address");
  EXPECT_TRUE(document.reading.unread.empty());
  const Facts facts = facts_of(document);
  ASSERT_EQ(facts.interfaces.size(), 5U);
  const Interface& slave = facts.interfaces[1];
  EXPECT_EQ(slave.mtu, 9000);
  EXPECT_EQ(slave.master, "bond0");
  EXPECT_EQ(slave.kind, InterfaceKind::Ethernet);
  const Interface& ib = facts.interfaces[2];
  EXPECT_EQ(ib.kind, InterfaceKind::Infiniband);
  EXPECT_EQ(ib.up, true);
  EXPECT_EQ(ib.running, false);
  const Interface& bond = facts.interfaces[3];
  EXPECT_EQ(bond.kind, InterfaceKind::Bond);
  EXPECT_EQ(bond.addresses, (std::vector<std::string>{"192.0.2.31/27", "fe80::5eff:fe00:5301/64"}));
  EXPECT_EQ(facts.interfaces[4].name, "veth12ab");
  EXPECT_EQ(facts.interfaces[4].kind, InterfaceKind::Virtual);
  EXPECT_EQ(unit_of(document, "interface[ens3f0np0].mtu"), "B");
}

TEST(IpAddress, BriefListing) {
  const auto document = read(
      "lo               UNKNOWN        127.0.0.1/8 ::1/128 \nens5             UP             192.0.2.24/24 metric 100 2001:db8::7/64\n"
      "ens6@if4         DOWN           \ntunl0@NONE       DOWN\n");
  EXPECT_EQ(document.format, "ip-address");
  const Facts facts = facts_of(document);
  ASSERT_EQ(facts.interfaces.size(), 4U);
  EXPECT_EQ(facts.interfaces[1].addresses, (std::vector<std::string>{"192.0.2.24/24", "2001:db8::7/64"}));
  EXPECT_EQ(facts.interfaces[1].running, true);
  EXPECT_EQ(facts.interfaces[2].running, false);
  EXPECT_FALSE(facts.interfaces[2].up) << "a brief listing does not tell a cable from a command";
  EXPECT_TRUE(document.reading.unread.empty());
}

TEST(IpAddress, OneLineAndBriefLink) {
  const auto one = read(
      "2: eth0    inet 192.0.2.1/24 brd 192.0.2.255 scope global eth0\\       valid_lft forever preferred_lft forever\n"
      "3: eth1: <BROADCAST,MULTICAST> mtu 1500 qdisc noop state DOWN mode DEFAULT group default qlen 1000\\    link/ether 02:00:5e:00:53:01 brd ff:ff:ff:ff:ff:ff\n");
  ASSERT_EQ(facts_of(one).interfaces.size(), 2U);
  EXPECT_EQ(facts_of(one).interfaces[0].addresses[0], "192.0.2.1/24");
  EXPECT_EQ(facts_of(one).interfaces[1].up, false);
  EXPECT_TRUE(one.reading.unread.empty());
  const auto brief = read("ens5             UP             02:00:5e:00:53:01 <BROADCAST,MULTICAST,UP,LOWER_UP> \n");
  EXPECT_EQ(facts_of(brief).interfaces[0].up, true);
  EXPECT_TRUE(facts_of(brief).interfaces[0].addresses.empty());
}

TEST(IpAddress, ABriefLineEndsWhatWasBeforeIt) {
  const auto document = read("2: ens3: <UP> mtu 9000 qdisc mq state UP\nens5 UP 192.0.2.1/24\n    link/ether 02:00:5e:00:53:01 brd ff:ff:ff:ff:ff:ff\n");
  EXPECT_EQ(facts_of(document).interfaces.size(), 2U);
  ASSERT_EQ(document.reading.unread.size(), 1U);
  EXPECT_EQ(document.reading.unread[0].line, 3);
}

TEST(IpAddress, Json) {
  const auto document = read(
      R"([{"ifindex":1,"ifname":"lo","flags":["LOOPBACK","UP","LOWER_UP"],"mtu":65536,"operstate":"UNKNOWN","link_type":"loopback"},{},
          {"ifindex":5,"ifname":"ibs9","flags":["BROADCAST","UP"],"mtu":4092,"operstate":"DOWN","link_type":"infiniband","addr_info":[]},
          {"ifindex":4,"ifname":"fab0","flags":["UP","LOWER_UP"],"mtu":9000,"operstate":"UP","link_type":"ether","linkinfo":{"info_kind":"vlan"},
           "addr_info":[{"family":"inet","local":"192.0.2.9","prefixlen":24}]}])");
  EXPECT_EQ(document.format, "ip-json");
  const Facts facts = facts_of(document);
  ASSERT_EQ(facts.interfaces.size(), 3U);
  EXPECT_EQ(facts.interfaces[1].running, false);
  EXPECT_EQ(facts.interfaces[2].kind, InterfaceKind::Vlan);
  EXPECT_EQ(facts.interfaces[2].addresses[0], "192.0.2.9/24");
  const auto torn = read(R"([{"ifname":"lo","mtu":65536,)");
  ASSERT_TRUE(torn.error);
}

constexpr const char* kDevinfo =
    "hca_id:\tbnxt_re3\n\ttransport:\t\t\tInfiniBand (0)\n\tfw_ver:\t\t\t\t231.0.153.0\n\tphys_port_cnt:\t\t\t1\n\t\tport:\t1\n"
    "\t\t\tstate:\t\t\tPORT_ACTIVE (4)\n\t\t\tmax_mtu:\t\t4096 (5)\n\t\t\tactive_mtu:\t\t1024 (3)\n\t\t\tsm_lid:\t\t\t0\n\t\t\tport_lid:\t\t0\n"
    "\t\t\tport_lmc:\t\t0x00\n\t\t\tlink_layer:\t\tEthernet\n\t\t\tactive_width:\t\t4X (2)\n\t\t\tactive_speed:\t\t25.0 Gbps (32)\n"
    "\t\t\tphys_state:\t\tLINK_UP (5)\n\t\t\tGID[  0]:\t\tfe80::200:5eff:fe00:5301, RoCE v1\n\t\t\tGID[  3]:\t\t::ffff:192.0.2.7, RoCE v2\n";

TEST(IbvDevinfo, SaysTheActiveMtu) {
  const auto document = read(kDevinfo);
  EXPECT_EQ(document.format, "ibv-devinfo");
  const Facts facts = facts_of(document);
  ASSERT_EQ(facts.ports.size(), 1U);
  const Port& port = facts.ports[0];
  EXPECT_EQ(port.state, "ACTIVE");
  EXPECT_EQ(port.physical_state, "LinkUp");
  EXPECT_EQ(port.active_mtu, 1024);
  EXPECT_EQ(port.max_mtu, 4096);
  EXPECT_EQ(port.link_layer, LinkLayer::Ethernet);
  EXPECT_EQ(port.rate_gbps, 100.0);
  EXPECT_EQ(port.firmware, "231.0.153.0");
  ASSERT_EQ(port.gids.size(), 2U);
  EXPECT_EQ(port.gids[1].index, 3);
  EXPECT_EQ(port.gids[1].type, "RoCE v2");
  EXPECT_TRUE(rdma::is_ipv4(port.gids[1].gid));
  EXPECT_TRUE(document.reading.findings.empty());
}

TEST(IbvDevinfo, APortThatIsMissingIsSaid) {
  const std::string text(kDevinfo);
  const auto document = read(text + "hca_id:\tbnxt_re4\n\ttransport:\t\t\tInfiniBand (0)\n\tphys_port_cnt:\t\t\t2\n");
  ASSERT_EQ(document.reading.findings.size(), 1U);
  EXPECT_EQ(document.reading.findings[0].id, "document-incomplete");
  EXPECT_EQ(document.reading.findings[0].subject, "bnxt_re4");
}

}  // namespace
}  // namespace verl::fabric
