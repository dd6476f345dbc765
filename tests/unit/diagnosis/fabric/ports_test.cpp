// Tools that show ports: ibstat, ibstatus, show_gids, rdma, sysfs; and interfaces by ethtool and JSON.
#include "tests/unit/diagnosis/fabric/read.h"

namespace verl::fabric {
namespace {

constexpr const char* kIbstat =
    "CA 'ibp7s0'\n\tCA type: MT4129\n\tNumber of ports: 2\n\tFirmware version: 28.42.1000\n\tNode GUID: 0x02005e0300005301\n"
    "\tPort 1:\n\t\tState: Initializing\n\t\tPhysical state: LinkUp\n\t\tRate: 200\n\t\tBase lid: 65535\n\t\tLMC: 0\n\t\tSM lid: 0\n\t\tLink layer: InfiniBand\n"
    "\tPort 2:\n\t\tState: Active\n\t\tPhysical state: LinkUp\n\t\tRate: 40 (FDR10)\n\t\tBase lid: 7\n\t\tSM lid: 1\n\t\tLink layer: Ethernet\n";

TEST(Ibstat, SpellsStatesItsOwnWay) {
  const auto document = read(kIbstat);
  EXPECT_EQ(document.format, "ibstat");
  const Facts facts = facts_of(document);
  ASSERT_EQ(facts.ports.size(), 2U);
  EXPECT_EQ(facts.ports[0].state, "INIT");
  EXPECT_FALSE(facts.ports[0].lid);
  EXPECT_EQ(facts.ports[0].model, "MT4129");
  EXPECT_EQ(facts.ports[1].rate_gbps, 40.0);
  EXPECT_EQ(facts.ports[1].rate_text, "FDR10");
  EXPECT_EQ(facts.ports[1].link_layer, LinkLayer::Ethernet);
  EXPECT_EQ(unit_of(document, "port[ibp7s0/2].rate"), "Gb/s");
}

TEST(Ibstat, OfOnePortAndWithoutCaType) {
  const auto document = read("CA: 'bnxt_re0'\n Port 1:\n  State: Active\n  Physical state: LinkUp\n  Rate: 100\n  Link layer: Ethernet\n");
  EXPECT_EQ(document.format, "ibstat");
  EXPECT_EQ(facts_of(document).ports.at(0).rate_gbps, 100.0);
}

TEST(Ibstat, ACutTextSaysThatPortsAreMissing) {
  const std::string text(kIbstat);
  const auto document = read(text.substr(0, text.find("\tPort 2")));
  ASSERT_EQ(document.reading.findings.size(), 1U);
  EXPECT_EQ(document.reading.findings[0].id, "document-incomplete");
}

TEST(Ibstatus, HasKeysOfSysfs) {
  const auto document = read(
      "Infiniband device 'rocep7s0' port 1 status:\n\tdefault gid:\t fe80:0000:0000:0000:0200:5eff:fe00:5301\n\tbase lid:\t 0x0\n\tsm lid:\t\t 0x0\n"
      "\tstate:\t\t 4: ACTIVE\n\tphys state:\t 5: LinkUp\n\trate:\t\t 2.5 Gb/sec (1X SDR)\n\tlink_layer:\t Ethernet\n");
  EXPECT_EQ(document.format, "ibstatus");
  const Port port = facts_of(document).ports.at(0);
  EXPECT_EQ(port.state, "ACTIVE");
  EXPECT_EQ(port.rate_gbps, 2.5);
  EXPECT_EQ(std::get<std::int64_t>(value_of(document, "port[rocep7s0/1].state_number")), 4);
  ASSERT_TRUE(document.reading.unread.empty());
}

TEST(ShowGids, EmptyCellsShiftNothingAndACutTableIsSaid) {
  const std::string table =
      "DEV\tPORT\tINDEX\tGID\t\t\t\t\tIPv4  \t\tVER\tDEV\n---\t----\t-----\t---\t\t\t\t\t------------  \t---\t---\n"
      "irdma0\t1\t0\tfe80:0000:0000:0000:0200:5eff:fe00:5301\t\t\tv1\tens4\nirdma0\t1\t3\t0000:0000:0000:0000:0000:ffff:c000:0207\t192.0.2.7  \tv2\tens4\n"
      "mlx4_0\t1\t0\tfe80:0000:0000:0000:0200:5eff:fe00:5302\t\t\tv1\n";
  const auto document = read(table + "n_gids_found=3\n");
  EXPECT_EQ(document.format, "show-gids");
  const Facts facts = facts_of(document);
  ASSERT_EQ(facts.ports.size(), 2U);
  EXPECT_EQ(facts.ports[0].netdev, "ens4");
  EXPECT_EQ(facts.ports[0].gids[1].type, "RoCE v2");
  EXPECT_EQ(facts.ports[1].link_layer, LinkLayer::Infiniband);
  EXPECT_EQ(std::get<std::int64_t>(value_of(document, "gid_index[irdma0]")), 3);
  EXPECT_TRUE(document.reading.findings.empty());
  const auto cut = read(table + "n_gids_found=9\n");
  ASSERT_EQ(cut.reading.findings.size(), 1U);
  EXPECT_EQ(cut.reading.findings[0].id, "document-incomplete");
}

TEST(Rdma, TextOfAllGenerations) {
  const auto document = read(
      "link rocep7s0/1 state ACTIVE physical_state LINK_UP netdev ens7np0 \n"
      "link ibp8s0/1 subnet_prefix fe80:0000:0000:0000 lid 12 sm_lid 1 lmc 0 state ACTIVE physical_state LINK_UP \n"
      "8/1: mlx5_bond_1/1: state DOWN physical_state DISABLED netdev reth2\n    caps: <CM, AUTOMIGR>\n");
  EXPECT_EQ(document.format, "rdma");
  const Facts facts = facts_of(document);
  ASSERT_EQ(facts.ports.size(), 3U);
  EXPECT_EQ(facts.ports[0].physical_state, "LinkUp");
  EXPECT_EQ(facts.ports[0].netdev, "ens7np0");
  EXPECT_EQ(facts.ports[1].lid, 12);
  EXPECT_EQ(facts.ports[1].link_layer, LinkLayer::Infiniband);
  EXPECT_EQ(facts.ports[2].physical_state, "Disabled");
  EXPECT_TRUE(document.reading.unread.empty());
}

TEST(Rdma, JsonAndStatistics) {
  const auto links = read(R"([{"ifindex":0,"ifname":"hfi7_0","port":1,"state":"ACTIVE","physical_state":"LINK_UP","netdev":"ens7","netdev_index":4}])");
  EXPECT_EQ(links.format, "rdma-json");
  EXPECT_EQ(facts_of(links).ports.at(0).state, "ACTIVE");
  const auto counters = read(R"([{"ifname":"hfi7_0","port":1,"rx_write_requests":18446744073709551615,"out_of_sequence":3}])");
  EXPECT_EQ(counters.format, "rdma-json");
  EXPECT_EQ(facts_of(counters).ports.at(0).counters.at("rx_write_requests"), UINT64_MAX);
  ASSERT_EQ(facts_of(counters).snapshots.size(), 1U);
  EXPECT_EQ(facts_of(counters).snapshots[0].owner, "hfi7_0/1");
}

TEST(Sysfs, ThePathDecidesNotTheSign) {
  for (const char* text : {"/sys/class/infiniband/hfi7_0/ports/1/rate:400 Gb/sec (4X NDR)\n/sys/class/infiniband/hfi7_0/ports/1/state:4: ACTIVE\n",
                           "/sys/class/infiniband/hfi7_0/ports/1/rate=400 Gb/sec (4X NDR)\n/sys/class/infiniband/hfi7_0/ports/1/state=4: ACTIVE\n",
                           "/sys/class/infiniband/hfi7_0/ports/1/rate: 400 Gb/sec (4X NDR)\n/sys/class/infiniband/hfi7_0/ports/1/state: 4: ACTIVE\n",
                           "hfi7_0/ports/1/rate:400 Gb/sec (4X NDR)\nhfi7_0/ports/1/state:4: ACTIVE\n",
                           "==> /sys/class/infiniband/hfi7_0/ports/1/rate <==\n400 Gb/sec (4X NDR)\n\n==> /sys/class/infiniband/hfi7_0/ports/1/state <==\n4: ACTIVE\n",
                           "{\"/sys/class/infiniband/hfi7_0/ports/1/rate\": \"400 Gb/sec (4X NDR)\\n\", \"/sys/class/infiniband/hfi7_0/ports/1/state\": \"4: ACTIVE\\n\"}"}) {
    const auto document = read(text);
    EXPECT_EQ(document.format, "sysfs-ports") << text;
    const Facts facts = facts_of(document);
    ASSERT_EQ(facts.ports.size(), 1U) << text;
    EXPECT_EQ(facts.ports[0].device, "hfi7_0");
    EXPECT_EQ(facts.ports[0].rate_gbps, 400.0) << text;
    EXPECT_EQ(facts.ports[0].state, "ACTIVE") << text;
    EXPECT_TRUE(document.reading.unread.empty()) << text;
  }
}

TEST(Sysfs, GidsInterfacesAndWhatIsNoCounter) {
  const auto document = read(
      "/sys/class/infiniband/hfi7_0/ports/1/gids/1:fe80:0000:0000:0000:0200:5eff:fe00:5301\n"
      "/sys/class/infiniband/hfi7_0/ports/1/gids/2:0000:0000:0000:0000:0000:0000:0000:0000\n"
      "/sys/class/infiniband/hfi7_0/ports/1/gid_attrs/types/1:RoCE v2\n"
      "/sys/class/infiniband/hfi7_0/ports/1/gid_attrs/types/2:RoCE v2\n"
      "/sys/class/infiniband/hfi7_0/ports/1/counters/VL15_dropped:N/A (no PMA)\n"
      "/sys/class/infiniband/hfi7_0/fw_ver:28.42.1000\n"
      "grep: /sys/class/infiniband/hfi7_0/ports/1/gid_attrs/ndevs/9: Invalid argument\n"
      "/sys/devices/pci0000:20/0000:21:00.0/net/ens7/speed:-1\n/sys/devices/pci0000:20/0000:21:00.0/net/ens7/mtu:9000\nhello\n");
  const Facts facts = facts_of(document);
  ASSERT_EQ(facts.ports.size(), 1U);
  ASSERT_EQ(facts.ports[0].gids.size(), 1U) << "an entry of zeros is empty";
  EXPECT_EQ(facts.ports[0].gids[0].type, "RoCE v2");
  EXPECT_EQ(facts.ports[0].firmware, "28.42.1000");
  EXPECT_TRUE(facts.ports[0].counters.empty());
  EXPECT_EQ(facts.interfaces.at(0).mtu, 9000);
  EXPECT_EQ(facts.interfaces.at(0).pci, "0000:21:00.0");
  EXPECT_FALSE(facts.interfaces.at(0).speed_mbps) << "-1: the link is down";
  ASSERT_EQ(document.reading.unread.size(), 1U);
  EXPECT_EQ(document.reading.unread[0].text, "hello");
}

TEST(Ethtool, SettingsOfSeveralInterfaces) {
  const auto document = read(
      "Settings for ens5:\n\tSupported ports: [ Backplane ]\n\tSupported link modes:   100000baseKR4/Full\n\t                        100000baseCR4/Full\n"
      "\tSpeed: 100000Mb/s\n\tDuplex: Full\n\tAuto-negotiation: on\n\tLink detected: yes\n"
      "Settings for ens6:\n\tSpeed: Unknown!\n\tDuplex: Unknown! (255)\n\tLink detected: no (No cable)\n");
  EXPECT_EQ(document.format, "ethtool");
  const Facts facts = facts_of(document);
  ASSERT_EQ(facts.interfaces.size(), 2U);
  EXPECT_EQ(facts.interfaces[0].speed_mbps, 100000);
  EXPECT_EQ(facts.interfaces[0].running, true);
  EXPECT_FALSE(facts.interfaces[1].speed_mbps);
  EXPECT_EQ(facts.interfaces[1].running, false);
  EXPECT_TRUE(document.reading.unread.empty());
}

TEST(EthtoolDriver, NeedsNoValueBehindItsKeys) {
  const auto document = read("driver: ena\nversion: 6.8.0-1031-aws\nfirmware-version: \nexpansion-rom-version: \nbus-info: 0000:00:05.0\nsupports-statistics: yes\n");
  EXPECT_EQ(document.format, "ethtool-driver");
  EXPECT_EQ(std::get<std::string>(value_of(document, "driver.name")), "ena");
  EXPECT_EQ(std::get<std::string>(value_of(document, "driver.firmware_version")), "");
}

TEST(InterfaceJson, KeepsConfigurationBesideState) {
  const auto document = read(R"({"intf_status":[{"ifname":"ens5","mtu":1500,"operstate":"UP","flags":["UP","LOWER_UP"]}],
    "link_speed":{"ens5":"200000"},"intf_ifcfg":{"ens5":{"MTU":"9000"}},
    "lldp_status":{"lldp":{"interface":[{"ens5":{"chassis":{"leaf-7":{}},"port":{"id":{"value":"Ethernet3/1"}}}}]}}})");
  EXPECT_EQ(document.format, "interface-json");
  const Facts facts = facts_of(document);
  EXPECT_EQ(facts.interfaces.at(0).configured_mtu, 9000);
  EXPECT_EQ(facts.interfaces.at(0).speed_mbps, 200000);
  EXPECT_EQ(std::get<std::string>(value_of(document, "interface[ens5].lldp.switch")), "leaf-7");
}

TEST(Formats, DamagedTextIsNeverAWrongValue) {
  for (const char* text : {"CA 'x'\n", "Infiniband device 'x' port y status:\n", "NIC statistics:\n     rx_bytes: 99999999999999999999999\n",
                           "[{\"ifname\":\"a\",\"port\":1,\"physical_state\":[]}]", "{\"/sys/class/infiniband/a/ports/1/rate\": 4}", "DEV PORT INDEX GID\n"}) {
    const auto document = read(text);
    for (const auto& [name, facts] : document.reading.nodes) {
      for (const Port& port : facts.fabric.ports) EXPECT_FALSE(port.rate_gbps) << text;
      for (const CounterSnapshot& one : facts.fabric.snapshots) EXPECT_TRUE(one.counters.empty()) << text;
    }
  }
}

}  // namespace
}  // namespace verl::fabric
