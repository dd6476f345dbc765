#include "node-agent/checks/judge.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "api/check_catalogue.h"
#include "codec/decode.h"
#include "codec/encode.h"
#include "node-agent/agent/report_change.h"
#include "tests/unit/node-agent/h100.h"

namespace verl::agent {
namespace {

std::vector<Finding> judged(const Observation& seen, const api::NodeReadinessSpec& spec, const PacketSample* before = nullptr) {
  return judge({.observation = seen, .spec = spec, .before = before});
}

// "mtu-interface ens0f0 Fail" for everything that neither passed nor was skipped.
std::vector<std::string> complaints(const std::vector<Finding>& findings) {
  std::vector<std::string> out;
  for (const Finding& finding : findings) {
    if (finding.verdict == Verdict::Pass || finding.verdict == Verdict::Skipped) continue;
    out.push_back(fmt::format("{} {} {}", finding.check, finding.subject, to_string(finding.verdict)));
  }
  return out;
}

TEST(Judge, HealthyMachinePassesEveryCheckThatItsPolicyDeclares) {
  const auto findings = judged(h100(), h100_spec());
  EXPECT_EQ(complaints(findings), std::vector<std::string>{});
  for (const api::CheckEntry& check : api::kChecks) {
    const bool passed = std::any_of(findings.begin(), findings.end(),
                                    [&](const Finding& one) { return one.check == check.id && one.verdict == Verdict::Pass; });
    EXPECT_EQ(passed, check.id != "packet-drops") << check.id;
  }
}

TEST(Judge, NamesTheFault) {
  struct Row {
    const char* what;
    void (*spoil)(Observation&, api::NodeReadinessSpec&);
    std::vector<std::string> wanted;
  };
  const Row rows[] = {
      {"low MTU, verbs agree", [](Observation& o, api::NodeReadinessSpec&) { o.interfaces->at(1).mtu = 1500; o.rdma->at(0).active_mtu = 1024; },
       {"mtu-interface ens0f0 Fail", "mtu-roce-active mlx5_0/1 Fail"}},
      {"low MTU, no verbs", [](Observation& o, api::NodeReadinessSpec&) { o.interfaces->at(1).mtu = 1500; o.rdma->at(0).active_mtu = tl::unexpected(std::string("no")); },
       {"mtu-interface ens0f0 Fail", "mtu-roce-active mlx5_0/1 Fail"}},
      {"MTU enough, no verbs: not proven", [](Observation& o, api::NodeReadinessSpec&) { o.rdma->at(0).active_mtu = tl::unexpected(std::string("no")); },
       {"mtu-roce-active mlx5_0/1 Warn"}},
      {"MTU unreadable", [](Observation& o, api::NodeReadinessSpec&) { o.interfaces->at(1).mtu = tl::unexpected(std::string("/sys/… denied")); },
       {"mtu-interface ens0f0 Unknown"}},
      {"link down", [](Observation& o, api::NodeReadinessSpec&) { o.interfaces->at(1).operstate = "down"; }, {"link-state ens0f0 Fail"}},
      {"link state not told", [](Observation& o, api::NodeReadinessSpec&) { o.interfaces->at(1).operstate = "unknown"; }, {"link-state ens0f0 Unknown"}},
      {"control link down", [](Observation& o, api::NodeReadinessSpec&) { o.interfaces->at(0).operstate = "down"; }, {"link-state eno1 Fail"}},
      {"nobody has the node's address", [](Observation&, api::NodeReadinessSpec& s) { s.address = "10.9.9.9"; }, {"link-state  Unknown"}},
      {"control interface declared and absent", [](Observation&, api::NodeReadinessSpec& s) { s.expectations.control_interface = "bond0"; },
       {"link-state bond0 Fail"}},
      {"fabric interface declared and absent", [](Observation&, api::NodeReadinessSpec& s) { s.expectations.fabric_interfaces = {"ens*", "ib*"}; },
       {"link-state ib* Fail"}},
      {"slow link", [](Observation& o, api::NodeReadinessSpec&) { o.interfaces->at(1).speed_mbps = 200000; o.rdma->at(0).rate_gbps = 200; },
       {"link-speed ens0f0 Fail", "rdma-port-rate mlx5_0/1 Fail"}},
      {"speed not told", [](Observation& o, api::NodeReadinessSpec&) { o.interfaces->at(1).speed_mbps = tl::unexpected(std::string("-1")); },
       {"link-speed ens0f0 Unknown"}},
      {"RDMA port down: its rate means nothing", [](Observation& o, api::NodeReadinessSpec&) { o.rdma->at(0).state = "DOWN"; },
       {"rdma-port-state mlx5_0/1 Fail", "rdma-port-rate mlx5_0/1 Unknown"}},
      {"RDMA device gone", [](Observation& o, api::NodeReadinessSpec&) { o.rdma->pop_back(); o.interfaces->pop_back(); }, {"rdma-device-count  Fail", "numa-topology GPUs Warn"}},
      {"software device does not count", [](Observation& o, api::NodeReadinessSpec&) { o.rdma->at(1).hardware = false; o.rdma->at(1).pci.clear(); },
       {"rdma-device-count  Fail", "numa-topology GPUs Warn"}},
      {"no usable GID", [](Observation& o, api::NodeReadinessSpec&) { o.rdma->at(0).gids = std::vector<rdma::GidEntry>{}; }, {"roce-gid mlx5_0/1 Fail"}},
      {"RDMA unreadable", [](Observation& o, api::NodeReadinessSpec&) { o.rdma = tl::unexpected(std::string("denied")); },
       {"mtu-interface  Unknown", "link-speed  Unknown", "rdma-device-count  Unknown", "rdma-port-state  Unknown", "rdma-port-rate  Unknown",
        "mtu-roce-active  Unknown", "roce-gid  Unknown", "numa-topology GPUs Unknown"}},
      {"interfaces unreadable", [](Observation& o, api::NodeReadinessSpec&) { o.interfaces = tl::unexpected(std::string("denied")); },
       {"link-state  Unknown", "mtu-interface  Unknown", "link-speed  Unknown", "packet-drops  Unknown"}},
      {"no fabric where one is wanted", [](Observation& o, api::NodeReadinessSpec& s) { o.rdma->clear(); s.expectations.inventory.rdma_devices = 0; },
       {"mtu-interface  Unknown", "link-speed  Unknown", "mtu-roce-active  Unknown"}},
      {"clock lost", [](Observation& o, api::NodeReadinessSpec&) { o.time.daemon->sources[0].reach = 0; }, {"clock-sync clock Fail", "clock-error clock Unknown"}},
      {"clock off", [](Observation& o, api::NodeReadinessSpec&) { o.time.daemon->tracking.current_correction = 0.2; }, {"clock-error clock Fail"}},
      {"no daemon", [](Observation& o, api::NodeReadinessSpec&) { o.time.daemon = tl::unexpected(std::string("refused")); o.time.daemon_absent = true; },
       {"clock-sync clock Unknown", "clock-error clock Unknown"}},
      {"daemon cannot be asked: the kernel's word does not replace it",
       [](Observation& o, api::NodeReadinessSpec&) { o.time.daemon = tl::unexpected(std::string("denied")); }, {"clock-sync clock Unknown", "clock-error clock Unknown"}},
      {"NCCL switches RDMA off", [](Observation& o, api::NodeReadinessSpec&) { o.nccl_conf = nccl::parse_conf("NCCL_IB_DISABLE=1"); },
       {"nccl-env /etc/nccl.conf Warn", "nccl-env /etc/nccl.conf Fail"}},
      {"NCCL switches off RDMA of which nothing is known",
       [](Observation& o, api::NodeReadinessSpec& s) { s = {}; o.rdma = tl::unexpected(std::string("denied")); o.nccl_conf = nccl::parse_conf("NCCL_IB_DISABLE=1"); },
       {"rdma-device-count  Unknown", "rdma-port-state  Unknown", "rdma-port-rate  Unknown", "mtu-roce-active  Unknown", "roce-gid  Unknown", "nccl-env /etc/nccl.conf Warn", "nccl-env /etc/nccl.conf Unknown",
        "numa-topology GPUs Unknown"}},
      {"kind of an interface not told", [](Observation& o, api::NodeReadinessSpec&) { o.interfaces->at(1).type = tl::unexpected(std::string("denied")); },
       {"mtu-interface ens0f0 Unknown", "link-speed ens0f0 Unknown"}},
      {"NCCL settings nobody reads", [](Observation& o, api::NodeReadinessSpec&) { o.nccl_conf = nccl::parse_conf("NCCL_BUFFER_SIZE=1\nNCCL_IB_GID_INDEX=3"); },
       {"nccl-env /etc/nccl.conf Warn", "nccl-env /etc/nccl.conf Warn"}},
      {"NCCL file unreadable", [](Observation& o, api::NodeReadinessSpec&) { o.nccl_conf = tl::unexpected(std::string("denied")); }, {"nccl-env /etc/nccl.conf Unknown"}},
      {"GPU gone", [](Observation& o, api::NodeReadinessSpec&) { o.pci->pop_back(); }, {"gpu-count  Fail"}},
      {"PCI unreadable", [](Observation& o, api::NodeReadinessSpec&) { o.pci = tl::unexpected(std::string("denied")); }, {"gpu-count  Unknown", "numa-topology GPUs Unknown"}},
      {"NUMA nodes interleaved", [](Observation& o, api::NodeReadinessSpec&) { o.cpu->numa_nodes.pop_back(); }, {"numa-topology NUMA nodes Fail"}},
      {"topology unreadable", [](Observation& o, api::NodeReadinessSpec&) { o.cpu = tl::unexpected(std::string("hwloc")); }, {"numa-topology NUMA nodes Unknown"}},
      {"job ports are given away", [](Observation& o, api::NodeReadinessSpec&) { o.ephemeral_ports = PortRange{.first = 1024, .last = 60999, .reserved = "20000-25000"}; },
       {"port-range  Warn"}},
      {"job ports are reserved", [](Observation& o, api::NodeReadinessSpec&) { o.ephemeral_ports = PortRange{.first = 1024, .last = 60999, .reserved = "8080,20000-24999,25000-29999"}; }, {}},
      {"bond member with another MTU",
       [](Observation& o, api::NodeReadinessSpec& s) { s.expectations.fabric_interfaces = {"ens1f0"}; o.interfaces->at(2).bond_members = {"eno1"}; },
       {"mtu-interface ens1f0 Fail"}},
  };
  for (const Row& row : rows) {
    Observation seen = h100();
    api::NodeReadinessSpec spec = h100_spec();
    row.spoil(seen, spec);
    EXPECT_EQ(complaints(judged(seen, spec)), row.wanted) << row.what;
  }
}

TEST(Judge, WithoutAPolicyNothingIsMeasuredAgainstAnything) {
  Observation seen = h100();
  seen.interfaces->at(1).mtu = 576;
  seen.interfaces->at(1).operstate = "down";
  seen.rdma->at(0).state = "DOWN";
  seen.pci->clear();
  EXPECT_EQ(complaints(judged(seen, {})), std::vector<std::string>{});
}

TEST(Judge, PacketDropsNeedTwoLooks) {
  const auto drops = [](PacketCounters before, PacketCounters now) {
    Observation seen = h100();
    seen.interfaces->at(1).counters = now;
    const PacketSample sample{{"ens0f0", before}};
    for (const Finding& finding : judged(seen, h100_spec(), &sample)) {
      if (finding.check == "packet-drops" && finding.subject == "ens0f0") return finding.verdict;
    }
    return Verdict::Unknown;
  };
  EXPECT_EQ(drops({100, 5}, {900'100, 5}), Verdict::Pass);
  EXPECT_EQ(drops({100, 5}, {1'000'100, 55}), Verdict::Pass);     // 0.005 %
  EXPECT_EQ(drops({100, 5}, {1'000'100, 505}), Verdict::Warn);    // 0.05 %
  EXPECT_EQ(drops({100, 5}, {1'000'100, 50'005}), Verdict::Warn); // 5 %: reported only, unless a policy says Block
  EXPECT_EQ(drops({100, 5}, {200, 50}), Verdict::Skipped);        // too few packets
  EXPECT_EQ(drops({900, 50}, {200, 0}), Verdict::Skipped);        // reset
}

TEST(Judge, PolicyDecidesWhatBlocks) {
  Observation seen = h100();
  seen.interfaces->at(1).mtu = 1500;
  api::NodeReadinessSpec spec = h100_spec();
  spec.expectations.checks = {{"mtu-interface", api::CheckAction::Warn}, {"clock-sync", api::CheckAction::Off}};
  const auto findings = judged(seen, spec);
  EXPECT_EQ(complaints(findings), std::vector<std::string>{"mtu-interface ens0f0 Warn"});
  const auto clock = std::find_if(findings.begin(), findings.end(), [](const Finding& one) { return one.check == "clock-sync"; });
  ASSERT_NE(clock, findings.end());
  EXPECT_EQ(clock->message, "switched off by the policy");
  EXPECT_FALSE(api::blocks({.check = "mtu-interface", .verdict = Verdict::Unknown}, spec.expectations));
  EXPECT_TRUE(api::blocks({.check = "gpu-count", .verdict = Verdict::Unknown}, spec.expectations));
  EXPECT_TRUE(api::blocks({.check = "from-the-future", .verdict = Verdict::Fail}, spec.expectations));
}

TEST(Judge, FailuresSayWhatToDo) {
  Observation seen = h100();
  seen.interfaces->at(1).mtu = 1500;
  for (const Finding& finding : judged(seen, h100_spec())) {
    if (finding.check != "mtu-interface" || finding.subject != "ens0f0") continue;
    const Finding wanted{.check = "mtu-interface", .verdict = Verdict::Fail, .subject = "ens0f0", .seen = "1500", .wanted = ">= 9000",
                         .remedy = "ip link set ens0f0 mtu 9000, and the same in the switch port", .message = ""};
    EXPECT_EQ(finding, wanted);
  }
}

TEST(Judge, KeepsTheWorstOfTooManyFindings) {
  Observation seen = h100();
  const Interface rail = seen.interfaces->at(1);
  for (int i = 0; i < 100; ++i) {
    seen.interfaces->push_back(rail);
    seen.interfaces->back().name = fmt::format("ens{}f1", i);
    seen.interfaces->back().mtu = i == 77 ? 1500 : 9000;
  }
  api::NodeReadinessSpec spec = h100_spec();
  spec.expectations.fabric_interfaces = {"ens*"};
  const auto findings = judged(seen, spec);
  EXPECT_EQ(findings.size(), 128u);
  EXPECT_EQ(complaints(findings), (std::vector<std::string>{"link-state  Unknown", "mtu-interface ens77f1 Fail"}));  // not all 102 have room
}

TEST(Judge, TextOfANodeCannotMoveACursor) {
  Observation seen = h100();
  seen.interfaces->at(1).name = "e\x1b[2J";
  seen.nccl_conf = nccl::parse_conf("NCCL_DEBUG=\x1b]0;\x07");
  for (const Finding& finding : judged(seen, h100_spec())) {
    for (const std::string* text : {&finding.subject, &finding.seen, &finding.message, &finding.remedy}) {
      EXPECT_EQ(text->find('\x1b'), std::string::npos) << finding.check;
    }
  }
}

TEST(Status, ShowsWhatPlacementNeeds) {
  const Observation seen = h100();
  const api::NodeReadinessSpec spec = h100_spec();
  const auto status = status_of({.observation = seen, .spec = spec, .before = nullptr});
  EXPECT_EQ(status.boot_id, "boot-1");
  EXPECT_EQ(status.node_uid, "uid-1");
  ASSERT_EQ(status.interfaces.size(), 3u);
  EXPECT_TRUE(status.interfaces[0].control);
  EXPECT_FALSE(status.interfaces[0].fabric);
  EXPECT_TRUE(status.interfaces[1].fabric);
  EXPECT_EQ(status.rdma.at(0).active_mtu, 4096);
  EXPECT_TRUE(status.clock.synchronised);
  EXPECT_EQ(status.clock.error_bound, Microseconds(1000));
  EXPECT_EQ(status.topology.gpus, (std::vector<std::string>{"0000:19:00.0", "0000:29:00.0"}));
}

TEST(Status, StaysWithinTheBoundsOfItsSchema) {
  Observation seen = h100();
  seen.boot_id = std::string(200, 'b');
  Interface& control = seen.interfaces->at(0);
  control.addresses.clear();
  for (int i = 0; i < 40; ++i) control.addresses.push_back(fmt::format("10.1.0.{}", i));
  control.addresses.push_back("10.0.0.1");  // the node's own, last
  control.mtu = 2'000'000;
  control.numa_node = 5000;
  seen.interfaces->at(1).name = "e\xff";
  seen.rdma->at(0).state = std::string(100, 's');
  seen.rdma->at(0).rate_gbps = 200'000;
  seen.rdma->at(1).port = 300;
  seen.cpu->sockets = 100;
  seen.nccl_conf = nccl::parse_conf("=nameless\n" + std::string(300, 'N') + "=" + std::string(3000, 'v') + "\nNCCL_DEBUG=\xff\n");
  const api::NodeReadinessSpec spec = h100_spec();
  const auto status = status_of({.observation = seen, .spec = spec, .before = nullptr});
  EXPECT_LE(status.boot_id.size(), 64u);
  const api::InterfaceStatus& shown = status.interfaces.at(0);
  EXPECT_EQ(shown.addresses.size(), 32u);
  EXPECT_EQ(shown.addresses.at(0), "10.0.0.1");
  EXPECT_EQ(shown.addresses.at(1), "10.1.0.0");
  EXPECT_EQ(shown.mtu, 0);
  EXPECT_EQ(shown.numa_node, -1);
  EXPECT_TRUE(std::any_of(status.interfaces.begin(), status.interfaces.end(), [](const auto& one) { return one.name == "e\\xff"; }));
  ASSERT_EQ(status.rdma.size(), 1u);
  EXPECT_LE(status.rdma[0].state.size(), 32u);
  EXPECT_EQ(status.rdma[0].rate_gbps, 0);
  EXPECT_EQ(status.topology.sockets, 0);
  ASSERT_EQ(status.nccl.size(), 2u);
  EXPECT_EQ(status.nccl[0].name.size(), 128u);
  EXPECT_EQ(status.nccl[0].value.size(), 1024u);
  EXPECT_EQ(status.nccl[1].value, "\\xff");
}

TEST(Status, TextThatIsNoUtf8IsNoNewsAtEveryLook) {
  Observation seen = h100();
  seen.nccl_conf = nccl::parse_conf("NCCL_DEBUG=\xff\xfe\n");
  seen.interfaces->at(1).pci = "\xc3";
  const api::NodeReadinessSpec spec = h100_spec();
  const auto status = status_of({.observation = seen, .spec = spec, .before = nullptr});
  const auto back = codec::decode_object<api::NodeReadiness>(codec::encode_agent_status({.name = "n1"}, status));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_FALSE(worth_writing(status, back->status));
}

// 100 virtual functions whose names come before those of everything that jobs use.
Observation with_functions(bool rdma) {
  Observation seen = h100();
  std::vector<Interface> all;
  for (int i = 0; i < 100; ++i) {
    Interface one = seen.interfaces->at(1);
    one.name = fmt::format("a{:03}", i);
    all.push_back(one);
    if (!rdma) continue;
    RdmaPort port = seen.rdma->at(0);
    port.device = fmt::format("mlx5_v{}", i);
    port.netdev = one.name;
    seen.rdma->insert(seen.rdma->begin(), port);
  }
  seen.interfaces->insert(seen.interfaces->begin(), all.begin(), all.end());
  return seen;
}

TEST(Status, ShowsWhatJobsUseBeforeVirtualFunctions) {
  const Observation seen = with_functions(true);
  api::NodeReadinessSpec spec = h100_spec();
  spec.expectations.fabric_interfaces = {"ens*"};
  const auto status = status_of({.observation = seen, .spec = spec, .before = nullptr});
  ASSERT_EQ(status.interfaces.size(), 64u);
  EXPECT_EQ(status.interfaces[0].name, "eno1");
  EXPECT_EQ(status.interfaces[1].name, "ens0f0");
  EXPECT_EQ(status.interfaces[2].name, "ens1f0");
  ASSERT_EQ(status.rdma.size(), 64u);
  EXPECT_EQ(status.rdma[0].netdev, "ens0f0");
  EXPECT_EQ(status.rdma[1].netdev, "ens1f0");
  EXPECT_EQ(complaints(status.findings), std::vector<std::string>{"rdma-device-count  Warn"});  // the functions are more than declared
}

TEST(Status, SaysThatItDoesNotKnowWhatHasNoRoom) {
  const Observation seen = with_functions(true);
  const auto status = status_of({.observation = seen, .spec = h100_spec(), .before = nullptr});
  EXPECT_LE(status.findings.size(), 128u);
  const auto found = complaints(status.findings);
  EXPECT_NE(std::find(found.begin(), found.end(), "link-state  Unknown"), found.end());
  EXPECT_NE(std::find(found.begin(), found.end(), "rdma-port-state  Unknown"), found.end());
  // Nothing is declared: nothing is judged, and nothing passes either.
  EXPECT_EQ(complaints(judged(seen, {})), std::vector<std::string>{});
}

TEST(Judge, KeepsAFindingOfEveryCheck) {
  Observation seen = h100();
  seen.interfaces->reserve(300);
  for (int i = 0; i < 200; ++i) {
    Interface rail = seen.interfaces->at(1);
    rail.name = fmt::format("ens{}f1", i);
    rail.mtu = 1500;
    seen.interfaces->push_back(rail);
  }
  api::NodeReadinessSpec spec = h100_spec();
  spec.expectations.fabric_interfaces = {"ens*"};
  const auto findings = judged(seen, spec);
  EXPECT_EQ(findings.size(), 128u);
  for (const api::CheckEntry& check : api::kChecks) {
    EXPECT_TRUE(std::any_of(findings.begin(), findings.end(), [&](const Finding& one) { return one.check == check.id; })) << check.id;
  }
  // Failures were left out: that is said under their own check, and is not better than not knowing.
  const auto rest = std::find_if(findings.begin(), findings.end(), [](const Finding& one) { return one.message.find("left out, none worse than Fail") != std::string::npos; });
  ASSERT_NE(rest, findings.end());
  EXPECT_EQ(rest->check, "mtu-interface");
  EXPECT_EQ(rest->verdict, Verdict::Unknown);
}

TEST(Judge, CutsSubjectsShorterThanOtherText) {
  api::NodeReadinessSpec spec = h100_spec();
  spec.expectations.control_interface = std::string(400, 'c');
  for (const Finding& finding : judged(h100(), spec)) EXPECT_LE(finding.subject.size(), 253u) << finding.check;
}

}  // namespace
}  // namespace verl::agent
