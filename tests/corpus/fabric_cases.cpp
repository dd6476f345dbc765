// Interfaces, RDMA ports, counters and benchmarks of the shared corpus.
#include <nlohmann/json.hpp>

#include <cmath>
#include <sstream>

#include "diagnosis/fabric/siblings.h"
#include "diagnosis/rdma/port.h"
#include "diagnosis/rule.h"
#include "tests/corpus/harness.h"
#include "yaml/yaml.h"

namespace verl::corpus {
namespace {

using diagnosis::Finding;
using diagnosis::Findings;
using diagnosis::NodeFacts;
using diagnosis::Policy;
using diagnosis::Severity;

std::vector<std::vector<std::string>> rows_of(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> cells;
    std::istringstream in(line);
    for (std::string cell; std::getline(in, cell, '\t');) cells.push_back(cell);
    rows.push_back(cells);
  }
  rows.erase(rows.begin());
  return rows;
}

nlohmann::json yaml_of(const std::string& text) {
  const auto documents = yaml_documents_to_json(text);
  if (documents && documents->size() == 1) return nlohmann::json::parse(documents->front());
  ADD_FAILURE() << "not one YAML document";
  return {};
}

// Ready: nothing that could not be told and no error.
bool ready(const Findings& findings) {
  return std::none_of(findings.begin(), findings.end(), [](const Finding& one) { return one.severity >= Severity::Unknown; });
}

Findings judged(const NodeFacts& node, const Policy& policy) {
  Findings findings;
  judge_fabric(node, policy, findings);
  return findings;
}

bool says(const Finding& finding, std::string_view word) { return finding.message.find(word) != std::string::npos; }

const fabric::Port& port(const Outcome& outcome, size_t document, const std::string& device) {
  const fabric::Port* found = fabric::port_of(outcome.facts(document).fabric, device, 1);
  if (found) return *found;
  ADD_FAILURE() << "no port of " << device;
  static const fabric::Port kNone{};
  return kNone;
}

NodeFacts roce_node(const nlohmann::json& nic, const std::string& device) {
  NodeFacts node;
  fabric::Interface interface;
  interface.name = nic.at("netdev").get<std::string>();
  interface.kind = fabric::InterfaceKind::Ethernet;
  interface.mtu = nic.at("netdevMtu").get<std::int32_t>();
  fabric::Port one;
  one.device = device;
  one.state = "ACTIVE";
  one.link_layer = fabric::LinkLayer::Ethernet;
  one.netdev = interface.name;
  one.active_mtu = nic.at("activeMtu").get<std::int32_t>();
  node.fabric.interfaces.push_back(interface);
  node.fabric.ports.push_back(one);
  return node;
}

CORPUS(b02, {{"mlx5_2", "hfi7_2"}, {"ens7np0", "fab7np0"}}) {
  const auto file = yaml_of(c.text("b-mtu-fabric/b02-node.yaml"));
  const auto& nic = file.at("ports").at(0);
  Policy gpudirect;
  gpudirect.gpudirect = true;
  const NodeFacts node = roce_node(nic, nic.at("hca").get<std::string>());
  const Findings findings = judged(node, gpudirect);
  EXPECT_FALSE(ready(findings)) << "NotReady";
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].id, "mtu-roce-active");
  EXPECT_EQ(findings[0].subject, c.as("mlx5_2/1"));
  EXPECT_EQ(findings[0].seen, "1024");
  EXPECT_EQ(findings[0].wanted, "4096");
  for (const char* word : {"1024", "1500", "4096", "4192", "4200"}) EXPECT_TRUE(says(findings[0], word)) << word;
  EXPECT_FALSE(ready(judged([&] { NodeFacts derived = node; derived.fabric.ports[0].active_mtu.reset(); return derived; }(), gpudirect)));
  const auto rows = rows_of(c.text("b-mtu-fabric/b02-roce-mtu.tsv"));
  EXPECT_EQ(rows.size(), 8U);
  for (const auto& row : rows) EXPECT_EQ(rdma::roce_mtu(std::stoi(row.at(0))), std::stoi(row.at(1))) << row.at(0);
  EXPECT_EQ(rdma::netdev_mtu_for(4096) - 4096, 96);
  EXPECT_EQ(rdma::roce_mtu(2143), 1024);
  EXPECT_EQ(rdma::roce_mtu(2144), 2048);
  EXPECT_EQ(rdma::roce_mtu(4191), 2048);
  EXPECT_EQ(rdma::roce_mtu(4192), 4096);
  EXPECT_EQ(rdma::roce_mtu(256 + 96), 256);
  EXPECT_EQ(rdma::roce_mtu(512 + 96), 512);
}

CORPUS(b03, {{"enp9s0f0np0", "enp7s1f1np1"}}) {
  const auto file = yaml_of(c.text("b-mtu-fabric/b03-policies.yaml"));
  const NodeFacts node = roce_node(file.at("nic"), "mlx5_0");
  for (const auto& one : file.at("policies")) {
    Policy policy;
    policy.mtu_min = one.at("minNetdevMtu").get<std::int32_t>();
    const Findings findings = judged(node, policy);
    EXPECT_EQ(ready(findings), one.at("expect").get<std::string>() == "Ready") << one.dump();
    EXPECT_EQ(ready(findings), *policy.mtu_min == 4200);
    if (*policy.mtu_min != 9000) continue;
    ASSERT_EQ(findings.size(), 1U) << "NotReady under at least 9000";
    EXPECT_EQ(findings[0].id, "mtu-interface");
    EXPECT_EQ(findings[0].seen, "4200");
    EXPECT_TRUE(says(findings[0], "4096"));
  }
  EXPECT_EQ(node.fabric.interfaces[0].mtu, 4200);
  EXPECT_EQ(fabric::active_mtu(node.fabric.ports[0], node.fabric)->bytes, 4096);
}

CORPUS(b04, {{"eth2", "eth7"}, {"ens6", "ens9"}}) {
  const std::map<std::string, int> minimum{{"gcp", 8244}, {"aws", 9000}, {"bare-metal", 9000}};
  std::map<std::string, Findings> by_name;
  std::map<std::string, int> mtus;
  for (const auto& row : rows_of(c.text("b-mtu-fabric/b04-mtus.tsv"))) {
    NodeFacts node;
    fabric::Interface interface;
    interface.name = row.at(0);
    interface.kind = row.at(1) == "32" ? fabric::InterfaceKind::Infiniband : fabric::InterfaceKind::Ethernet;
    interface.mtu = std::stoi(row.at(2));
    node.fabric.interfaces.push_back(interface);
    Policy policy;
    policy.mtu_min = minimum.at(row.at(5));
    policy.fabric_interfaces = {row.at(4) == "management" ? std::string("none-of-them*") : row.at(0)};
    by_name[row.at(0)] = judged(node, policy);
    mtus[row.at(0)] = std::stoi(row.at(2));
  }
  EXPECT_TRUE(ready(by_name.at(c.as("eth2")))) << "8244 Ready under the GCP profile";
  EXPECT_EQ(mtus.at(c.as("eth2")), 8244);
  EXPECT_TRUE(by_name.at(c.as("ens6")).empty()) << "9001 passes at least 9000";
  EXPECT_EQ(mtus.at(c.as("ens6")), 9001);
  EXPECT_TRUE(by_name.at("bond7").empty());
  EXPECT_EQ(mtus.at("bond7"), 9216);
  EXPECT_TRUE(by_name.at("ib3").empty()) << "IPoIB, ARPHRD type 32";
  EXPECT_EQ(mtus.at("ib3"), 2044);
  EXPECT_TRUE(by_name.at("ib1").empty());
  EXPECT_EQ(mtus.at("ib1"), 4092);
  for (const Finding& one : by_name.at("eno8")) EXPECT_NE(one.id, "mtu-interface") << "management, 1500";
  EXPECT_EQ(mtus.at("eno8"), 1500);
  ASSERT_EQ(by_name.at("eth5").size(), 1U);
  EXPECT_EQ(by_name.at("eth5")[0].id, "mtu-interface");
  EXPECT_EQ(by_name.at("eth5")[0].severity, Severity::Error);
  EXPECT_EQ(by_name.at("eth5")[0].seen, "8243");
  EXPECT_EQ(by_name.at("eth5")[0].wanted, "at least 8244");
}

CORPUS(b06, {{"front0", "fabby0"}, {"enp97s0f0", "enp66s0f1"}}) {
  const auto bad = c.diagnose({{.node = "", .file = "b-mtu-fabric/b06-eth-mtu-bad.json", .format = ""}});
  EXPECT_EQ(bad.documents[0].format, "interface-json");
  const auto drift = bad.findings("mtu-drift");
  EXPECT_EQ(drift.size(), 3U) << "three interfaces NotReady";
  for (const char* name : {"enp97s0f0", "enp225s0f0", "front0"}) {
    const Finding one = bad.finding("mtu-drift", c.as(name));
    EXPECT_EQ(one.severity, Severity::Error);
    EXPECT_EQ(one.seen, "1500");
    EXPECT_EQ(one.wanted, "9192");
  }
  Policy policy;
  policy.link_gbps_min = 200;
  policy.fabric_interfaces = {"enp*", c.as("front0")};
  const auto good = c.diagnose({{.node = "", .file = "b-mtu-fabric/b06-eth-good.json", .format = ""}}, policy);
  EXPECT_TRUE(good.at_least(Severity::Warning).empty()) << "Ready";
  const auto slow = c.diagnose({{.node = "", .file = "b-mtu-fabric/b06-eth-degraded.json", .format = ""}}, policy);
  const Finding bond = slow.finding("link-speed", c.as("front0"));
  EXPECT_EQ(bond.seen, "200000 Mb/s");
  EXPECT_EQ(bond.wanted, "400000 Mb/s");
  EXPECT_EQ(bond.severity, Severity::Error);
  for (const char* name : {"enp97s0f0", "enp225s0f0"}) {
    EXPECT_EQ(slow.finding("link-speed", c.as(name)).seen, "100000 Mb/s");
    EXPECT_EQ(slow.finding("link-speed", c.as(name)).wanted, "200000 Mb/s");
  }
  EXPECT_EQ(slow.at_least(Severity::Warning).size(), 3U) << "MTU is fine";
}

CORPUS(b07, {{"mlx5_", "hfi7_"}}) {
  Policy policy;
  policy.link_gbps_min = 200;
  policy.mtu_min = 9000;
  policy.rdma_devices = 8;
  const auto outcome = c.diagnose({{.node = "", .file = "b-mtu-fabric/b07-ib-half-rate-sysfs.json", .format = ""}}, policy);
  EXPECT_EQ(outcome.documents[0].format, "sysfs-ports");
  const auto slow = outcome.findings("rdma-port-rate");
  EXPECT_EQ(slow.size(), 8U) << "8 ports";
  for (const Finding& one : slow) {
    EXPECT_EQ(one.severity, Severity::Error) << "NotReady";
    EXPECT_EQ(one.seen, "100 Gb/s (4X EDR)");
    EXPECT_EQ(one.wanted, "200 Gb/s");
  }
  EXPECT_EQ(outcome.at_least(Severity::Info).size(), 8U) << "nothing about MTU 2044 or carrier_changes 3";
  for (const fabric::Port& one : outcome.facts(0).fabric.ports) EXPECT_EQ(one.link_layer, fabric::LinkLayer::Infiniband) << "the rate comes from the InfiniBand port";
  EXPECT_EQ(outcome.number(0, "interface[ib0].mtu"), 2044);
  EXPECT_EQ(outcome.text(0, "interface[ib0].mode"), "datagram");
  EXPECT_EQ(outcome.number(0, "interface[ib0].carrier_changes"), 3);
  EXPECT_EQ(outcome.number(0, "interface[ib0].speed"), 200000);
  EXPECT_EQ(outcome.number(0, c.as("port[mlx5_0/1].rate")), 100);
  EXPECT_EQ(outcome.text(0, c.as("port[mlx5_0/1].rate_kind")), "4X EDR");
  const auto without = c.diagnose({{.node = "", .file = "b-mtu-fabric/b07-ib-half-rate-sysfs.json", .format = ""}});
  EXPECT_EQ(without.findings("rdma-port-rate").size(), 8U) << "the adapters' own speed tells it too";
}

CORPUS(b11, {{"mlx5_", "hfi7_"}}) {
  Policy policy;
  policy.rdma_devices = 8;
  policy.link_gbps_min = 400;
  const auto outcome = c.diagnose({{.node = "", .file = "b-mtu-fabric/b11-h100-sysfs-flat.txt", .format = ""}}, policy);
  EXPECT_EQ(outcome.documents[0].format, "sysfs-ports");
  EXPECT_TRUE(outcome.at_least(Severity::Unknown).empty()) << "Ready with warnings";
  const Finding downed = outcome.finding("rdma-counter-saturated", c.as("mlx5_1/1 link_downed"));
  EXPECT_EQ(downed.severity, Severity::Warning);
  EXPECT_EQ(downed.seen, "255");
  EXPECT_TRUE(says(downed, "8 bits"));
  EXPECT_NE(downed.remedy.find("reset"), std::string::npos);
  const Finding overrun = outcome.finding("rdma-counter-saturated", c.as("mlx5_0/1 excessive_buffer_overrun_errors"));
  EXPECT_EQ(overrun.seen, "15");
  EXPECT_TRUE(says(overrun, "4 bits"));
  EXPECT_EQ(outcome.number(0, c.as("port[mlx5_0/1].counter.port_rcv_errors")), 14);
  const auto rails = fabric::siblings_of(outcome.facts(0).fabric);
  EXPECT_EQ(rails.size(), 8U);
  for (const fabric::Port* one : rails) {
    EXPECT_EQ(one->state, "ACTIVE");
    EXPECT_EQ(one->link_layer, fabric::LinkLayer::Infiniband) << "8 InfiniBand at 400";
    EXPECT_EQ(one->rate_gbps, 400.0);
    EXPECT_NE(one->device, c.as("mlx5_bond_0"));
  }
  const fabric::Port& bond = port(outcome, 0, c.as("mlx5_bond_0"));
  EXPECT_EQ(bond.rate_gbps, 200.0);
  EXPECT_EQ(bond.rate_text, "2X NDR");
  EXPECT_EQ(bond.link_layer, fabric::LinkLayer::Ethernet);
  EXPECT_TRUE(outcome.documents[0].reading.unread.empty());
}

CORPUS(b12, {{"rx_future_counter_xyz", "rx_uncanny_counter_ab"}}) {
  const auto outcome = c.diagnose({{.node = "", .file = "b-mtu-fabric/b12-ethtool-S-t0.txt", .format = ""}, {.node = "", .file = "b-mtu-fabric/b12-ethtool-S-t1.txt", .format = ""}});
  EXPECT_EQ(outcome.documents[0].format, "ethtool-statistics");
  const Finding drops = outcome.finding("packet-drops");
  EXPECT_EQ(drops.severity, Severity::Warning);
  EXPECT_NE(drops.seen.find("rx_discards_phy +48000"), std::string::npos) << drops.seen;
  EXPECT_NE(drops.seen.find("rx_out_of_buffer +12500"), std::string::npos) << drops.seen;
  EXPECT_TRUE(says(drops, "cannot drain"));
  EXPECT_TRUE(says(drops, "receive buffers"));
  const Finding pause = outcome.finding("pause-global");
  EXPECT_EQ(pause.seen, "tx_global_pause +310");
  EXPECT_TRUE(says(pause, "link-level flow control"));
  EXPECT_TRUE(says(pause, "not PFC"));
  EXPECT_EQ(outcome.at_least(Severity::Warning).size(), 1U);
  EXPECT_EQ(std::get<std::uint64_t>(outcome.value(0, "counter.rx_discards_phy")), 43370921776U) << "64-bit";
  EXPECT_EQ(std::get<std::uint64_t>(outcome.value(0, "counter.rx_out_of_buffer")), 704118204U);
  EXPECT_EQ(outcome.number(0, "counter." + c.as("rx_future_counter_xyz")), 7);
  const auto alone = c.diagnose({{.node = "", .file = "b-mtu-fabric/b12-ethtool-S-t0.txt", .format = ""}});
  EXPECT_TRUE(alone.at_least(Severity::Info).empty()) << "large absolute values alone do not fail the node";
}

CORPUS(g01, {{"ib0", "hf3"}}) {
  const auto outcome = c.diagnose({{.node = "", .file = "g-output/g01-ib_write_bw-loopback-interleaved.txt", .format = ""}});
  EXPECT_EQ(outcome.documents[0].format, "perftest");
  EXPECT_EQ(outcome.number(0, "rows.count"), 23);
  EXPECT_EQ(outcome.number(0, "rows.repeated"), 1) << "the repeated last row is no second measurement";
  EXPECT_EQ(outcome.number(0, "rows[0].size"), 2);
  EXPECT_EQ(outcome.number(0, "rows[22].size"), 8388608);
  EXPECT_EQ(outcome.number(0, "rows[22].bw_average"), 23240.68);
  EXPECT_EQ(outcome.unit(0, "rows[22].bw_average"), "MiB/s") << "MB/sec of perftest";
  EXPECT_NEAR(outcome.number(0, "rows[22].bw_average_gbits"), 194.96, 0.005);
  EXPECT_GT(std::abs(outcome.number(0, "rows[22].bw_average_gbits") - 185.93), 1);
  EXPECT_EQ(outcome.number(0, "rows[21].bw_average"), 23277.91);
  EXPECT_NEAR(outcome.number(0, "best.bw_average_gbits"), 195.27, 0.005);
  EXPECT_EQ(outcome.number(0, "best.size"), 4194304);
  EXPECT_EQ(outcome.text(0, "runs[0].device"), c.as("ib0"));
  EXPECT_EQ(outcome.text(0, "runs[0].local_lid"), "0xd06");
  EXPECT_EQ(outcome.text(0, "runs[0].remote_lid"), "0xd06");
  EXPECT_TRUE(std::get<bool>(outcome.value(0, "runs[0].loopback")));
  EXPECT_EQ(outcome.finding("benchmark-loopback").severity, Severity::Warning);
  for (const auto& one : outcome.facts(0).benchmark.measurements) EXPECT_FALSE(one.network);
  Policy policy;
  diagnosis::Expectation wanted;
  wanted.test = "ib_write_bw";
  wanted.size = 8388608;
  wanted.minimum = 190;
  policy.expectations.push_back(wanted);
  const auto held = c.diagnose({{.node = "", .file = "g-output/g01-ib_write_bw-loopback-interleaved.txt", .format = ""}}, policy);
  EXPECT_EQ(held.finding("benchmark-no-network-proof").severity, Severity::Unknown) << "must not count as a check of the network";
  EXPECT_TRUE(outcome.documents[0].reading.unread.empty());
}

CORPUS(g04, {{"rxe0", "rxe7"}}) {
  Policy policy;
  policy.rdma_devices = 1;
  const auto outcome = c.diagnose({{.node = "", .file = "g-output/g04-rxe.txt", .format = ""}}, policy);
  EXPECT_EQ(outcome.number(0, "rows[0].bw_peak"), 0.00);
  EXPECT_EQ(outcome.number(0, "rows[0].bw_average"), 4.87);
  EXPECT_EQ(outcome.unit(0, "rows[0].bw_average"), "Gb/s");
  EXPECT_EQ(outcome.facts(0).benchmark.measurements.at(0).gbits_per_s, 4.87);
  EXPECT_TRUE(outcome.findings("benchmark-failed").empty()) << "a peak of 0.00 is legal";
  const Finding software = outcome.finding("benchmark-software-rdma");
  EXPECT_EQ(software.severity, Severity::Error) << "never satisfies an RDMA requirement";
  EXPECT_EQ(software.seen, c.as("rxe0"));
  const auto plain = c.diagnose({{.node = "", .file = "g-output/g04-rxe.txt", .format = ""}});
  EXPECT_TRUE(plain.at_least(Severity::Unknown).empty());
}

CORPUS(g05, {{"mlx5_2", "hfi7_2"}}) {
  const auto given = [](const char* file) { return Given{.node = "", .file = file, .format = ""}; };
  Policy policy;
  diagnosis::Expectation wanted;
  wanted.test = "ib_write_bw";
  wanted.size = 131072;
  wanted.queue_pairs = 1;
  wanted.minimum = 390;
  policy.expectations.push_back(wanted);
  const auto outcome = c.diagnose({given("g-output/g05-1qp-128k.txt"), given("g-output/g05-1qp-1m.txt"), given("g-output/g05-4qp-1m.txt")}, policy);
  EXPECT_TRUE(outcome.at_least(Severity::Warning).empty()) << "no 28 % loss";
  const std::tuple<double, int, int> rows[] = {{391.72, 131072, 1}, {283.95, 1048576, 1}, {390.10, 1048576, 4}};
  for (size_t i = 0; i < 3; ++i) {
    const auto& [bandwidth, size, queue_pairs] = rows[i];
    EXPECT_EQ(outcome.number(i, "rows[0].bw_average"), bandwidth);
    EXPECT_EQ(outcome.number(i, "rows[0].size"), size);
    EXPECT_EQ(outcome.unit(i, "rows[0].size"), "B");
    EXPECT_EQ(outcome.number(i, "rows[0].queue_pairs"), queue_pairs);
    EXPECT_EQ(outcome.text(i, "runs[0].device"), c.as("mlx5_2"));
  }
  // Neither at another size nor with another number of queue pairs.
  for (const char* file : {"g-output/g05-1qp-1m.txt", "g-output/g05-4qp-1m.txt"}) {
    const auto alone = c.diagnose({given(file)}, policy);
    EXPECT_TRUE(alone.findings("benchmark-below-expectation").empty());
    EXPECT_EQ(alone.findings("benchmark-not-comparable").size(), 1U);
  }
  policy.expectations[0].size = 1048576;
  policy.expectations[0].queue_pairs = 4;
  EXPECT_EQ(c.diagnose({given("g-output/g05-1qp-1m.txt")}, policy).findings("benchmark-not-comparable").size(), 1U);
  EXPECT_TRUE(c.diagnose({given("g-output/g05-4qp-1m.txt")}, policy).at_least(Severity::Info).empty());
  policy.expectations[0].queue_pairs = 1;
  EXPECT_EQ(c.diagnose({given("g-output/g05-1qp-1m.txt")}, policy).findings("benchmark-below-expectation").size(), 1U);
}

CORPUS(g06, {{"mlx5_", "hfi7_"}}) {
  const auto outcome = c.diagnose({{.node = "", .file = "g-output/g06-ibstat-mixed.txt", .format = ""}});
  EXPECT_EQ(outcome.documents[0].format, "ibstat");
  const fabric::Port& first = port(outcome, 0, c.as("mlx5_0"));
  EXPECT_EQ(first.state, "ACTIVE");
  EXPECT_EQ(first.rate_gbps, 400.0);
  EXPECT_EQ(first.lid, 21);
  EXPECT_EQ(first.sm_lid, 3);
  const Finding unused = outcome.finding("rdma-port-unused", c.as("mlx5_1/1"));
  EXPECT_EQ(unused.severity, Severity::Info);
  EXPECT_TRUE(says(unused, "Disabled"));
  EXPECT_TRUE(says(unused, "unused port"));
  EXPECT_EQ(outcome.number(0, c.as("port[mlx5_1/1].rate")), 10);
  EXPECT_EQ(outcome.number(0, c.as("port[mlx5_1/1].lid")), 65535);
  EXPECT_FALSE(port(outcome, 0, c.as("mlx5_1")).lid) << "65535 is none";
  EXPECT_TRUE(outcome.findings("rdma-port-rate").empty()) << "not degraded to 10";
  const fabric::Port& third = port(outcome, 0, c.as("mlx5_2"));
  EXPECT_EQ(third.rate_gbps, 400.0);
  EXPECT_EQ(third.lid, 3);
  EXPECT_TRUE(says(outcome.finding("rdma-subnet-manager", c.as("mlx5_2/1")), "base lid 3 equals SM lid 3"));
  const Finding polling = outcome.finding("rdma-port-state", c.as("mlx5_3/1"));
  EXPECT_TRUE(says(polling, "no cable, or the peer is down"));
  EXPECT_EQ(polling.seen, "DOWN, Polling");
  EXPECT_TRUE(outcome.at_least(Severity::Unknown).empty());
  Policy policy;
  policy.rdma_devices = 4;
  EXPECT_EQ(c.diagnose({{.node = "", .file = "g-output/g06-ibstat-mixed.txt", .format = ""}}, policy).finding("rdma-device-count").severity, Severity::Error);
}

CORPUS(g08, {{"mlx5_", "hfi7_"}}) {
  const auto outcome = c.diagnose({{.node = "", .file = "g-output/g08-ibstatus-down.txt", .format = ""}});
  EXPECT_EQ(outcome.documents[0].format, "ibstatus");
  const std::tuple<std::string, std::string, int, std::string, int, std::string> rows[] = {{"mlx5_0", "InfiniBand", 3, "Disabled", 10, "4X SDR"},
                                                                                           {"mlx5_9", "InfiniBand", 2, "Polling", 10, "4X SDR"},
                                                                                           {"mlx5_4", "Ethernet", 3, "Disabled", 40, "4X QDR"}};
  for (const auto& [device, layer, number, physical, rate, kind] : rows) {
    const std::string path = "port[" + c.as(device) + "/1].";
    EXPECT_EQ(outcome.text(0, path + "link_layer"), layer);
    EXPECT_EQ(outcome.number(0, path + "state_number"), 1);
    EXPECT_EQ(outcome.text(0, path + "state"), "DOWN");
    EXPECT_EQ(outcome.number(0, path + "physical_state_number"), number);
    EXPECT_EQ(outcome.text(0, path + "physical_state"), physical);
    EXPECT_EQ(outcome.number(0, path + "rate"), rate);
    EXPECT_EQ(outcome.unit(0, path + "rate"), "Gb/s");
    EXPECT_EQ(outcome.text(0, path + "rate_kind"), kind);
  }
  EXPECT_EQ(outcome.finding("rdma-port-state", "all ports").severity, Severity::Error) << "NotReady";
  EXPECT_TRUE(outcome.findings("rdma-port-rate").empty()) << "the rate of a DOWN port is a default";
}

CORPUS(g09, {{"mlx5_", "hfi7_"}}) {
  Policy policy;
  policy.rdma_devices = 8;
  policy.link_gbps_min = 400;
  const auto outcome = c.diagnose({{.node = "", .file = "g-output/g09-ibdev2netdev.txt", .format = ""}, {.node = "", .file = "g-output/g09-sysfs-ports.txt", .format = ""}}, policy);
  EXPECT_EQ(outcome.documents[0].format, "ibdev2netdev");
  EXPECT_EQ(outcome.documents[1].format, "sysfs-ports");
  EXPECT_TRUE(outcome.at_least(Severity::Warning).empty()) << "Ready";
  EXPECT_FALSE(std::get<bool>(outcome.value(0, c.as("port[mlx5_0/1].netdev_up")))) << "Up/Down is the interface's";
  std::vector<std::string> compute;
  for (const fabric::Port* one : fabric::siblings_of(outcome.facts(1).fabric)) {
    compute.push_back(one->device);
    EXPECT_EQ(one->rate_gbps, 400.0);
    EXPECT_EQ(one->state, "ACTIVE");
  }
  std::sort(compute.begin(), compute.end(), [](const std::string& a, const std::string& b) { return std::stoi(a.substr(5)) < std::stoi(b.substr(5)); });
  std::vector<std::string> wanted;
  for (const char* name : {"mlx5_0", "mlx5_2", "mlx5_3", "mlx5_6", "mlx5_7", "mlx5_9", "mlx5_10", "mlx5_11"}) wanted.push_back(c.as(name));
  EXPECT_EQ(compute, wanted);
  EXPECT_EQ(compute.size(), 8U);
  EXPECT_EQ(outcome.facts(1).fabric.ports[0].link_layer, fabric::LinkLayer::Infiniband) << "InfiniBand";
  const Finding rails = outcome.finding("rails-suggested", "NCCL_IB_HCA");
  EXPECT_EQ(rails.severity, Severity::Info);
  std::string list = "=";
  for (const std::string& name : wanted) list += (list == "=" ? "" : ",") + name;
  EXPECT_EQ(rails.seen, list);
  for (const char* name : {"mlx5_1", "mlx5_4", "mlx5_5", "mlx5_8"}) EXPECT_EQ(port(outcome, 1, c.as(name)).link_layer, fabric::LinkLayer::Ethernet);
  for (const char* name : {"mlx5_1", "mlx5_5"}) EXPECT_EQ(port(outcome, 1, c.as(name)).state, "ACTIVE") << "two up";
  EXPECT_EQ(outcome.findings("rdma-port-unused").size(), 2U) << "two down";
  for (const char* name : {"mlx5_4", "mlx5_8"}) EXPECT_EQ(outcome.findings("rdma-port-unused", c.as(name) + "/1").size(), 1U);
}

CORPUS(g11, {{"mlx5_", "hfi7_"}}) {
  const auto outcome = c.diagnose({{.node = "", .file = "g-output/g11-show_gids.txt", .format = ""}});
  EXPECT_EQ(outcome.documents[0].format, "show-gids");
  EXPECT_EQ(outcome.number(0, "gid_index[hrn3_1]"), 1);
  EXPECT_EQ(outcome.text(0, c.as("gid_index[mlx5_bond_1]")), "none");
  EXPECT_EQ(outcome.findings("roce-gid", c.as("mlx5_bond_1/1")).size(), 1U);
  for (const fabric::Port& one : outcome.facts(0).fabric.ports) EXPECT_EQ(rdma::entry_at(one.gids, 3), nullptr) << "NCCL_IB_GID_INDEX=3 is invalid here";
  EXPECT_EQ(outcome.number(0, "gids.count"), 4);
  const auto vendor = c.diagnose({{.node = "", .file = "g-output/g11-hiroce3-gids.txt", .format = ""}});
  EXPECT_EQ(vendor.documents[0].format, "vendor-gids");
  EXPECT_EQ(vendor.text(0, "port[hrn3_1/1].netdev"), "bond2");
  EXPECT_TRUE(std::get<bool>(vendor.value(0, "port[hrn3_1/1].link_up"))) << "link up";
  EXPECT_EQ(vendor.text(0, "port[hrn3_1/1].gid[1].ipv4"), "203.0.113.18");
  EXPECT_EQ(vendor.text(0, "port[hrn3_1/1].gid[1].type"), "RoCE v2");
  EXPECT_EQ(vendor.text(0, c.as("port[mlx5_2/1].netdev")), "ens9f1");
  EXPECT_FALSE(std::get<bool>(vendor.value(0, c.as("port[mlx5_2/1].link_up")))) << "link down";
  EXPECT_TRUE(vendor.documents[0].reading.unread.empty());
  const auto driver = c.diagnose({{.node = "", .file = "g-output/g11-ethtool-i.txt", .format = ""}});
  EXPECT_EQ(driver.documents[0].format, "ethtool-driver");
  EXPECT_EQ(driver.text(0, "driver.name"), "hinic3");
  EXPECT_EQ(driver.text(0, "driver.version"), "17.12.0.4");
  EXPECT_EQ(driver.text(0, "driver.expansion_rom_version"), "");
}

CORPUS(g13, {{"mlx5_", "hfi7_"}}) {
  const auto outcome = c.diagnose({{.node = "", .file = "g-output/g13-show_gids-spaces.txt", .format = ""}});
  EXPECT_EQ(outcome.number(0, "gids.count"), 5) << "5 rows";
  const fabric::Port& infiniband = port(outcome, 0, c.as("mlx5_2"));
  EXPECT_EQ(outcome.text(0, c.as("port[mlx5_2/1].link_layer")), "InfiniBand");
  ASSERT_EQ(infiniband.gids.size(), 1U);
  EXPECT_EQ(infiniband.gids[0].index, 0);
  EXPECT_EQ(infiniband.netdev, "");
  EXPECT_TRUE(outcome.findings("roce-gid", c.as("mlx5_2/1")).empty()) << "\"v1\" has no meaning there";
  EXPECT_TRUE(says(outcome.finding("roce-gid", c.as("mlx5_0/1")), "no IPv4 GID"));
  EXPECT_TRUE(says(outcome.finding("roce-gid", c.as("mlx5_0/1")), "RoCE v2 over IPv4 is impossible"));
  EXPECT_EQ(outcome.text(0, c.as("port[mlx5_3/1].gid[1].ipv4")), "198.51.100.71");
  EXPECT_EQ(outcome.text(0, c.as("port[mlx5_3/1].gid[1].type")), "RoCE v2");
  EXPECT_EQ(outcome.number(0, c.as("gid_index[mlx5_3]")), 1);
  EXPECT_EQ(outcome.text(0, c.as("port[mlx5_3/1].netdev")), "ens3f1") << "columns do not shift";
  EXPECT_TRUE(outcome.documents[0].reading.unread.empty());
}

CORPUS(g14, {{"localhost", "trainhost"}}) {
  const auto outcome = c.diagnose({{.node = "", .file = "g-output/g14-all_reduce_perf-a100x8-old-format.txt", .format = "nccl-tests"}});
  EXPECT_EQ(outcome.number(0, "rows.count"), 34) << "34 rows";
  EXPECT_EQ(outcome.number(0, "rows.measured"), 32) << "rows of size 0 are no measurements";
  EXPECT_EQ(outcome.number(0, "rows[0].size"), 0);
  EXPECT_EQ(outcome.number(0, "best.out_of_place.bus_bandwidth"), 235.26);
  EXPECT_EQ(outcome.number(0, "best.in_place.bus_bandwidth"), 235.03);
  EXPECT_EQ(outcome.unit(0, "best.in_place.bus_bandwidth"), "GB/s");
  EXPECT_EQ(outcome.number(0, "best.out_of_place.size"), 8.0 * 1024 * 1024 * 1024) << "8 GiB";
  EXPECT_EQ(outcome.number(0, "best.in_place.size"), 8.0 * 1024 * 1024 * 1024);
  EXPECT_EQ(outcome.number(0, "average_bus_bandwidth"), 68.4048);
  EXPECT_EQ(outcome.text(0, "correctness"), "unknown");
  EXPECT_EQ(outcome.finding("benchmark-correctness-unknown").seen, "N/A");
  EXPECT_TRUE(outcome.findings("benchmark-correctness").empty()) << "neither errors nor none: Severity::Error would be as wrong as right";
  EXPECT_EQ(outcome.finding("benchmark-single-host").seen, "8 ranks on one host");
  EXPECT_EQ(outcome.text(0, "test"), "all_reduce_perf");
  // A threshold above the average of all sizes, met at the plateau.
  Policy policy;
  diagnosis::Expectation wanted;
  wanted.test = "all_reduce_perf";
  wanted.minimum = 200;
  wanted.size = 8589934592;
  policy.expectations.push_back(wanted);
  EXPECT_TRUE(c.diagnose({{.node = "", .file = "g-output/g14-all_reduce_perf-a100x8-old-format.txt", .format = "nccl-tests"}}, policy).findings("benchmark-below-expectation").empty());
  EXPECT_TRUE(outcome.documents[0].reading.unread.empty());
  EXPECT_TRUE(outcome.at_least(Severity::Warning).empty());
  EXPECT_EQ(c.diagnose({{.node = "", .file = "g-output/g14-all_reduce_perf-a100x8-old-format.txt", .format = ""}}).documents[0].format, "nccl-tests");
}

}  // namespace
}  // namespace verl::corpus
