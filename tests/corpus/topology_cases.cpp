// GPU, NIC, NUMA and PCIe topology.
#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "diagnosis/topology/model.h"
#include "diagnosis/topology/pinning.h"
#include "diagnosis/topology/rails.h"
#include "tests/corpus/harness.h"

namespace verl::corpus {
namespace {

using diagnosis::Severity;
using topology::GroupFit;
using topology::Link;
using topology::Relations;

const topology::Facts& of(const Outcome& outcome, size_t document = 0) { return outcome.facts(document).topology; }

// "GPU0.nearest" of GPU0, GPU1, ... in order.
std::vector<std::string> nearest(const Outcome& outcome, size_t gpus) {
  std::vector<std::string> all;
  for (size_t i = 0; i < gpus; ++i) all.push_back(outcome.text(0, "GPU" + std::to_string(i) + ".nearest"));
  return all;
}

void expect_nearest_link(const Outcome& outcome, size_t gpus, const std::string& link) {
  for (size_t i = 0; i < gpus; ++i) EXPECT_EQ(outcome.text(0, "GPU" + std::to_string(i) + ".nearest.link"), link) << "GPU" << i;
}

// Every relation between two GPUs.
void expect_gpus(const Outcome& outcome, size_t gpus, const std::string& relation) {
  EXPECT_EQ(outcome.number(0, "gpus"), static_cast<double>(gpus));
  for (size_t i = 0; i < gpus; ++i) {
    for (size_t j = i + 1; j < gpus; ++j) EXPECT_EQ(outcome.text(0, "GPU" + std::to_string(i) + ".gpu[GPU" + std::to_string(j) + "]"), relation);
  }
}

std::vector<double> numa(const Outcome& outcome, size_t gpus) {
  std::vector<double> all;
  for (size_t i = 0; i < gpus; ++i) all.push_back(outcome.number(0, "GPU" + std::to_string(i) + ".numa"));
  return all;
}

std::vector<std::string> cpus(const Outcome& outcome, size_t gpus) {
  std::vector<std::string> all;
  for (size_t i = 0; i < gpus; ++i) all.push_back(outcome.text(0, "GPU" + std::to_string(i) + ".cpus"));
  return all;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

GroupFit fit(const topology::Facts& facts, const std::vector<std::int32_t>& gpus) { return group_fit(facts, Relations(facts), gpus); }

using Names = std::vector<std::string>;

CORPUS(d02, {{"mlx5_", "hfi7_"}}) {
  const Outcome outcome = c.diagnose({{.file = "d-topo/d02-a100x8-vm-glued-cpu.txt"}});
  EXPECT_EQ(outcome.documents[0].format, "nvidia-smi-topo");
  expect_gpus(outcome, 8, "NV12");
  EXPECT_EQ(outcome.number(0, "nics"), 6);
  for (int gpu = 0; gpu < 8; ++gpu) {
    for (int nic = 0; nic < 6; ++nic) {
      // The lost cell, GPU to NIC5, is the one that row NIC5 has.
      EXPECT_EQ(outcome.text(0, "GPU" + std::to_string(gpu) + ".nic[NIC" + std::to_string(nic) + "]"), "PHB");
    }
    const std::string label = "GPU" + std::to_string(gpu);
    EXPECT_EQ(outcome.text(0, label + ".cpus"), "0-95");
    EXPECT_EQ(outcome.text(0, label + ".numa"), "0-1");
    EXPECT_EQ(of(outcome).gpus[static_cast<size_t>(gpu)].numa, (std::set<std::int32_t>{0, 1}));
    EXPECT_FALSE(pin_plan(of(outcome), of(outcome).gpus[static_cast<size_t>(gpu)]).node) << "never node 0 by guess";
  }
  EXPECT_EQ(outcome.text(0, "NIC5.device"), c.as("mlx5_5"));
  for (const diagnosis::Value& one : outcome.documents[0].reading.values) {
    const auto* text = std::get_if<std::string>(&one.value);
    EXPECT_FALSE(text != nullptr && *text == "PH0-95") << one.name;
  }
  EXPECT_TRUE(has(outcome.finding("topology-row-damaged").message, "GPU0-NIC5"));
  const auto warning = outcome.finding("numa-no-locality");
  EXPECT_EQ(warning.severity, Severity::Warning);
  EXPECT_TRUE(has(warning.message, "{0, 1}")) << warning.message;
  EXPECT_TRUE(has(warning.message, "VM")) << warning.message;
}

CORPUS(d03, {{"mlx5_", "hfi7_"}}) {
  const Outcome outcome = c.diagnose({{.file = "d-topo/d03-x4-8nic-mp-interleaved.txt"}});
  EXPECT_EQ(outcome.number(0, "gpus"), 4);
  EXPECT_EQ(outcome.number(0, "nics"), 8);
  EXPECT_EQ(nearest(outcome, 4), (Names{"NIC0,NIC1", "NIC2", "NIC4", "NIC5,NIC6"}));
  expect_nearest_link(outcome, 4, "PIX");
  for (const char* far : {"NIC3", "NIC7"}) {
    for (int gpu = 0; gpu < 4; ++gpu) EXPECT_NE(outcome.text(0, "GPU" + std::to_string(gpu) + ".nic[" + std::string(far) + "]"), "PIX");
  }
  EXPECT_EQ(of(outcome).nvlink_shown, false) << "a PCIe view says nothing about NVLink";
  EXPECT_EQ(fit(of(outcome), {0, 1}), GroupFit::Unknown);
  EXPECT_EQ(cpus(outcome, 4), (Names{"0,2,4,6,8,10", "0,2,4,6,8,10", "1,3,5,7,9,11", "1,3,5,7,9,11"}));
  const auto warning = outcome.finding("cpu-list-truncated");
  EXPECT_EQ(warning.severity, Severity::Warning);
  EXPECT_TRUE(has(warning.message, "CPU affinity list looks truncated (12 characters, stride 2)")) << warning.message;
  EXPECT_EQ(warning.subject, "GPU0,GPU1,GPU2,GPU3");
  for (const topology::PinPlan& plan : pin_plans(of(outcome))) {
    EXPECT_EQ(plan.node, plan.gpu < 2 ? 0 : 1);
    EXPECT_EQ(plan.cpus, "") << "never just these 6";
    EXPECT_TRUE(has(plan.why_not, "sysfs"));
  }
  EXPECT_TRUE(outcome.findings("document-incomplete").empty());
}

CORPUS(d05, {{"NV18", "NV14"}}) {
  const Outcome outcome = c.diagnose({{.file = "d-topo/d05-h100x8-truncated.txt"}});
  EXPECT_EQ(outcome.number(0, "gpus"), 8);
  EXPECT_EQ(outcome.number(0, "nics"), 10) << "not 0 NICs";
  EXPECT_EQ(nearest(outcome, 8), (Names{"NIC1", "NIC2", "NIC3", "NIC4", "NIC6", "NIC7", "NIC8", "NIC9"}));
  expect_nearest_link(outcome, 8, "PXB");
  const auto incomplete = outcome.finding("document-incomplete");
  EXPECT_EQ(incomplete.severity, Severity::Unknown);
  for (const char* row : {"NIC4", "NIC5", "NIC6", "NIC7", "NIC8", "NIC9"}) EXPECT_TRUE(has(incomplete.message, row)) << incomplete.message;  // 6 rows
  for (const char* row : {"NIC0", "NIC3"}) EXPECT_FALSE(has(incomplete.message, row)) << incomplete.message;  // of 12 rows these are there
  EXPECT_TRUE(has(incomplete.message, "device names are unknown"));
  EXPECT_TRUE(of(outcome).incomplete);
  EXPECT_EQ(outcome.at_least(Severity::Warning), (Names{"document-incomplete rows"}));
}

CORPUS(d06, {{"NV12", "NV16"}}) {
  const Outcome outcome = c.diagnose({{.file = "d-topo/d06-a100x8-nps4.txt"}});
  EXPECT_EQ(outcome.number(0, "gpus"), 8);
  EXPECT_EQ(outcome.number(0, "nics"), 9);
  EXPECT_EQ(numa(outcome, 8), (std::vector<double>{2, 2, 0, 0, 6, 6, 4, 4}));
  EXPECT_EQ(nearest(outcome, 8), (Names{"NIC0,NIC1", "NIC0,NIC1", "NIC2,NIC3", "NIC2,NIC3", "NIC4,NIC5", "NIC4,NIC5", "NIC6,NIC7", "NIC6,NIC7"}));
  expect_nearest_link(outcome, 8, "PXB");
  for (int gpu = 0; gpu < 8; ++gpu) EXPECT_EQ(outcome.text(0, "GPU" + std::to_string(gpu) + ".nic[NIC8]"), "SYS");
  EXPECT_EQ(outcome.text(0, "GPU4.cpus"), "72-83,168-179");
  EXPECT_EQ(outcome.text(0, "GPU4.pin.cpus"), "72-83,168-179");
  EXPECT_EQ(outcome.number(0, "GPU4.pin.node"), 6) << "not 4/4";
  EXPECT_TRUE(outcome.at_least(Severity::Warning).empty());
  EXPECT_TRUE(outcome.documents[0].reading.unread.empty()) << "the header without the last column is accepted";
}

CORPUS(d08, {{"mlx5_", "hfi7_"}}) {
  const Outcome outcome = c.diagnose({{.file = "d-topo/d08-x3-nvbridge.txt"}});
  EXPECT_EQ(outcome.number(0, "gpus"), 3);
  EXPECT_EQ(outcome.number(0, "nics"), 2);
  const auto pairs = direct_pairs(of(outcome));
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_EQ(pairs[0].a + " " + pairs[0].b + " " + to_text(pairs[0]), "GPU1 GPU2 NV4");
  EXPECT_EQ(joined_gpus(of(outcome)), (std::vector<std::vector<std::int32_t>>{{1, 2}}));
  EXPECT_EQ(nearest(outcome, 3), (Names{"NIC0,NIC1", "NIC0,NIC1", "NIC0,NIC1"}));
  EXPECT_EQ(outcome.text(0, "GPU0.nearest.link"), "PHB");
  EXPECT_EQ(outcome.text(0, "GPU1.nearest.link"), "NODE");
  EXPECT_EQ(outcome.text(0, "GPU2.nearest.link"), "NODE");
  EXPECT_EQ(numa(outcome, 3), (std::vector<double>{1, 1, 1})) << "node 0 has no GPU";
  EXPECT_EQ(cpus(outcome, 3), (Names{"40-47", "40-47", "40-47"}));
  // The log names the cause; the topology has no fault.
  EXPECT_EQ(outcome.at_least(Severity::Warning), (Names{"gpu-nvlink-groups GPUs"}));
}

CORPUS(d10, {{"NV18", "NV14"}}) {
  const Outcome outcome = c.diagnose({{.file = "d-topo/d10-h100x4-empty-cpu-cell.txt"}});
  expect_gpus(outcome, 4, c.as("NV18"));
  EXPECT_EQ(cpus(outcome, 4), (Names{"16-23,80-87", "16-23,80-87", "", ""}));
  EXPECT_EQ(numa(outcome, 4), (std::vector<double>{0, 0, 1, 1}));
  const auto warning = outcome.finding("numa-empty-cpuset");
  EXPECT_EQ(warning.severity, Severity::Warning);
  EXPECT_EQ(warning.subject, "GPU2,GPU3");
  EXPECT_TRUE(has(warning.message, "no allowed CPU on their node")) << warning.message;
  EXPECT_TRUE(has(warning.message, "cpuset does not include NUMA node 1")) << warning.message;
  const auto plans = pin_plans(of(outcome));
  EXPECT_EQ(plans[0].cpus, "16-23,80-87");
  EXPECT_FALSE(plans[2].node) << "never CPU 1";
  EXPECT_EQ(plans[3].cpus, "");
}

CORPUS(d12, {{"mlx5_", "hfi7_"}}) {
  const Outcome outcome = c.diagnose({{.file = "d-topo/d12-p100x4-glued-header.txt"}});
  EXPECT_EQ(outcome.number(0, "gpus"), 4);
  ASSERT_EQ(of(outcome).nics.size(), 2u);
  EXPECT_EQ(of(outcome).nics[0].device, c.as("mlx5_1"));
  EXPECT_EQ(of(outcome).nics[1].device, c.as("mlx5_0"));
  EXPECT_EQ(outcome.text(0, "GPU0.gpu[GPU1]"), "NV2");
  EXPECT_EQ(outcome.text(0, "GPU2.gpu[GPU3]"), "NV2");
  EXPECT_EQ(outcome.text(0, "GPU0.gpu[GPU2]"), "NV1");
  EXPECT_EQ(outcome.text(0, "GPU1.gpu[GPU3]"), "NV1");
  EXPECT_EQ(outcome.text(0, "GPU0.gpu[GPU3]"), "SYS") << "SOC is the old name";
  EXPECT_EQ(outcome.text(0, "GPU1.gpu[GPU2]"), "SYS");
  EXPECT_EQ(nearest(outcome, 4), (Names{c.as("mlx5_1"), c.as("mlx5_1"), c.as("mlx5_0"), c.as("mlx5_0")}));
  expect_nearest_link(outcome, 4, "PIX");
  const auto warning = outcome.finding("cpu-list-unusable");
  EXPECT_EQ(warning.severity, Severity::Warning);
  EXPECT_EQ(warning.seen, "1-1");
  for (const topology::PinPlan& plan : pin_plans(of(outcome))) EXPECT_FALSE(plan.node);
  EXPECT_TRUE(outcome.documents[0].reading.unread.empty());
}

CORPUS(d14, {{"mlx5_", "hfi7_"}}) {
  diagnosis::ReadOptions options;
  options.strip_comment_prefix = true;
  const Outcome outcome = c.diagnose({{.file = "d-topo/d14-commented-mp.txt"}}, {}, options);
  EXPECT_EQ(outcome.number(0, "gpus"), 4);
  EXPECT_EQ(outcome.number(0, "nics"), 4);
  EXPECT_EQ(numa(outcome, 4), (std::vector<double>{1, 0, 3, 2}));
  EXPECT_EQ(nearest(outcome, 4), (Names{c.as("mlx5_3"), c.as("mlx5_2"), c.as("mlx5_1"), c.as("mlx5_0")}));
  expect_nearest_link(outcome, 4, "PIX");
  EXPECT_FALSE(of(outcome).nvlink_shown.value_or(false)) << "PCIe view: no statement about NVLink";
  EXPECT_EQ(fit(of(outcome), {0, 1}), GroupFit::Unknown);

  const Outcome plain = c.diagnose({{.file = "d-topo/d14-commented-mp.txt"}});
  ASSERT_TRUE(plain.documents[0].error);
  EXPECT_TRUE(has(plain.documents[0].error->message, "no header line found")) << plain.documents[0].error->message;
  EXPECT_TRUE(plain.documents[0].reading.nodes.empty());
}

CORPUS(d16, {{"0-47", "0-39"}}) {
  const Outcome outcome = c.diagnose({{.file = "d-topo/d16-rtx3090x2.txt"}});
  EXPECT_EQ(outcome.number(0, "gpus"), 2);
  EXPECT_EQ(outcome.text(0, "GPU0.gpu[GPU1]"), "PHB");
  EXPECT_TRUE(direct_pairs(of(outcome)).empty()) << "no NVLink";
  EXPECT_EQ(outcome.number(0, "nics"), 2);
  for (const topology::Nic& one : of(outcome).nics) EXPECT_EQ(one.device, "");
  EXPECT_EQ(outcome.text(0, "NIC0.nic[NIC1]"), "PIX");
  EXPECT_EQ(nearest(outcome, 2), (Names{"NIC0,NIC1", "NIC0,NIC1"}));
  expect_nearest_link(outcome, 2, "NODE");
  EXPECT_EQ(numa(outcome, 2), (std::vector<double>{0, 0}));
  EXPECT_EQ(cpus(outcome, 2), (Names{c.as("0-47"), c.as("0-47")}));
  EXPECT_TRUE(outcome.documents[0].reading.unread.empty()) << "the wrapped legend is no row";
  EXPECT_TRUE(outcome.at_least(Severity::Warning).empty());
}

CORPUS(d17, {{"NV12", "NV10"}}) {
  const Outcome outcome = c.diagnose({{.file = "d-topo/d17-a100pcie-nvbridge.txt"}});
  EXPECT_EQ(outcome.number(0, "gpus"), 4);
  const auto pairs = direct_pairs(of(outcome));
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[0].a + " " + pairs[0].b + " " + to_text(pairs[0]), "GPU0 GPU3 " + c.as("NV12"));
  EXPECT_EQ(pairs[1].a + " " + pairs[1].b + " " + to_text(pairs[1]), "GPU1 GPU2 " + c.as("NV12"));
  for (const char* other : {"GPU0.gpu[GPU1]", "GPU0.gpu[GPU2]", "GPU1.gpu[GPU3]", "GPU2.gpu[GPU3]"}) EXPECT_EQ(outcome.text(0, other), "SYS");
  EXPECT_EQ(numa(outcome, 4), (std::vector<double>{0, 1, 1, 0}));
  EXPECT_EQ(direct_groups(of(outcome), Relations(of(outcome)), 2), (std::vector<std::vector<std::int32_t>>{{0, 3}, {1, 2}}));
  EXPECT_EQ(fit(of(outcome), {0, 3}), GroupFit::Direct);
  EXPECT_EQ(fit(of(outcome), {1, 2}), GroupFit::Direct);
  EXPECT_EQ(fit(of(outcome), {0, 1}), GroupFit::Worse);
  const auto warning = outcome.finding("gpu-nvlink-groups");
  EXPECT_EQ(warning.severity, Severity::Warning);
  EXPECT_TRUE(has(warning.message, "groups of 2: {0,3}, {1,2}")) << warning.message;
  EXPECT_TRUE(has(warning.message, "not {0,1} (SYS)")) << warning.message;
}

CORPUS(d19, {{"60-119", "60-111"}}) {
  const Outcome outcome = c.diagnose({{.file = "d-topo/d19-h100x4-env-indented.txt"}});
  expect_gpus(outcome, 4, "NV18");
  EXPECT_EQ(outcome.number(0, "nics"), 1);
  for (int gpu = 0; gpu < 4; ++gpu) EXPECT_EQ(outcome.text(0, "GPU" + std::to_string(gpu) + ".nic[NIC0]"), "SYS");
  const auto warning = outcome.finding("numa-topology");
  EXPECT_EQ(warning.severity, Severity::Warning);
  EXPECT_TRUE(has(warning.message, "no RDMA NIC near any GPU")) << warning.message;
  EXPECT_TRUE(has(warning.message, "management only"));
  EXPECT_EQ(numa(outcome, 4), (std::vector<double>{0, 0, 1, 1}));
  EXPECT_EQ(cpus(outcome, 4), (Names{"0-59", "0-59", c.as("60-119"), c.as("60-119")}));
  EXPECT_TRUE(outcome.documents[0].reading.unread.empty());
}

CORPUS(d20, {{"0-19", "0-15"}}) {
  const Outcome outcome = c.diagnose({{.file = "d-topo/d20-gb10-capped.txt"}});
  EXPECT_EQ(outcome.number(0, "gpus"), 1);
  EXPECT_EQ(outcome.number(0, "nics"), 2);
  EXPECT_EQ(nearest(outcome, 1), (Names{"NIC0,NIC1"}));
  expect_nearest_link(outcome, 1, "NODE");
  EXPECT_EQ(numa(outcome, 1), (std::vector<double>{0}));
  EXPECT_EQ(cpus(outcome, 1), (Names{c.as("0-19")}));
  const auto incomplete = outcome.finding("document-incomplete");
  EXPECT_TRUE(has(incomplete.message, "NIC0, NIC1")) << incomplete.message;
  EXPECT_EQ(whole_gpus(of(outcome)), (std::vector<std::int32_t>{0})) << "usable for 1-GPU workers";
  EXPECT_EQ(outcome.at_least(Severity::Warning), (Names{"document-incomplete rows"}));
}

CORPUS(d21, {{"mlx5_", "hfi7_"}}) {
  const Outcome outcome = c.diagnose({{.file = "d-topo/d21-h200x8-single-numa.txt"}, {.file = "d-topo/d21-ibdev2netdev.txt"}});
  expect_gpus(outcome, 8, "NV18");
  EXPECT_EQ(outcome.number(0, "nics"), 10);
  EXPECT_EQ(nearest(outcome, 8), (Names{"NIC0", "NIC1", "NIC3", "NIC4", "NIC5", "NIC7", "NIC8", "NIC9"}));
  expect_nearest_link(outcome, 8, "PIX");
  EXPECT_EQ(numa(outcome, 8), std::vector<double>(8, 0));
  EXPECT_EQ(cpus(outcome, 8), Names(8, "0-127"));
  const auto warning = outcome.finding("numa-single-node");
  EXPECT_EQ(warning.severity, Severity::Warning) << "not NotReady by itself";
  EXPECT_TRUE(has(warning.message, "2-socket class")) << warning.message;
  EXPECT_TRUE(has(warning.message, "single NUMA node")) << warning.message;
  EXPECT_TRUE(has(warning.message, "NUMA pinning cannot be verified")) << warning.message;
  const auto rails = outcome.finding("rails-suggested");
  EXPECT_EQ(rails.severity, Severity::Info);
  Names wanted;
  for (const char* device : {"mlx5_0", "mlx5_1", "mlx5_3", "mlx5_4", "mlx5_5", "mlx5_7", "mlx5_8", "mlx5_9"}) wanted.push_back(c.as(device));
  EXPECT_EQ(rails.seen, topology::hca_list(wanted)) << "NCCL_IB_HCA";
  EXPECT_TRUE(has(rails.message, c.as("mlx5_2") + " (member of bond0)")) << rails.message;
  EXPECT_TRUE(has(rails.message, c.as("mlx5_6"))) << rails.message;
  for (const std::string& one : outcome.at_least(Severity::Unknown)) ADD_FAILURE() << one;
}

CORPUS(d23, {{"mlx5_", "hfi7_"}}) {
  const Outcome outcome = c.diagnose({{.file = "d-topo/d23-a100x4-hca-names.txt"}});
  expect_gpus(outcome, 4, "NV4");
  EXPECT_EQ(outcome.number(0, "nics"), 3);
  const Names devices{c.as("mlx5_0"), c.as("mlx5_1"), c.as("mlx5_4")};
  for (size_t i = 0; i < devices.size(); ++i) {
    EXPECT_EQ(of(outcome).nics[i].device, devices[i]);
    for (int gpu = 0; gpu < 4; ++gpu) {
      EXPECT_EQ(outcome.text(0, "GPU" + std::to_string(gpu) + ".nic[" + devices[i] + "]"), gpu < 2 ? "SYS" : "NODE");
    }
  }
  EXPECT_EQ(numa(outcome, 4), (std::vector<double>{0, 0, 1, 1}));
  EXPECT_EQ(cpus(outcome, 4), (Names{"0-31", "0-31", "32-63", "32-63"}));
  EXPECT_EQ(outcome.text(0, c.as("mlx5_0") + ".nic[" + c.as("mlx5_1") + "]"), "PIX") << "one dual-port card";
  EXPECT_EQ(outcome.text(0, c.as("mlx5_0") + ".nic[" + c.as("mlx5_4") + "]"), "NODE");
  EXPECT_EQ(outcome.finding("gpu-nic-cross-socket").subject, "GPU0,GPU1") << "all HCAs sit on socket 1";
}


CORPUS(d24, {{"17:00", "27:00"}, {"18:0", "28:0"}, {"65:00", "75:00"}, {"66:0", "76:0"}}) {
  const auto bridge = [&](const std::string& name) { return "0000:" + c.as(name); };
  const Outcome redirect = c.diagnose({{.file = "d-topo/d24-lspci-acs-redirect.txt"}});
  EXPECT_EQ(redirect.documents[0].format, "lspci");
  for (const char* name : {"17:00.0", "18:01.0"}) {
    const auto fault = redirect.finding("pcie-acs", bridge(name));
    EXPECT_EQ(fault.severity, Severity::Error) << "the GPUDirect/P2P check fails";
    EXPECT_EQ(fault.seen, "0x001d");
    EXPECT_TRUE(has(fault.message, "request redirect, completion redirect, upstream forwarding")) << fault.message;
    EXPECT_TRUE(has(fault.remedy, "nothing here ever does it")) << "the tool never changes ACS itself";
  }
  EXPECT_TRUE(redirect.findings("pcie-acs", bridge("18:00.0")).empty()) << "clean";
  EXPECT_EQ(redirect.at_least(Severity::Warning).size(), 2u);

  const Outcome valid = c.diagnose({{.file = "d-topo/d24-lspci-acs-srcvalid.txt"}});
  for (const char* name : {"65:00.0", "66:00.0"}) {
    const auto warning = valid.finding("pcie-acs", bridge(name));
    EXPECT_EQ(warning.severity, Severity::Warning) << "SrcValid alone";
    EXPECT_EQ(warning.seen, "0x0001");
  }
  EXPECT_TRUE(valid.findings("pcie-acs", bridge("66:01.0")).empty()) << "clean";
  EXPECT_EQ(valid.at_least(Severity::Warning).size(), 2u);

  const Outcome none = c.diagnose({{.file = "d-topo/d24-lspci-no-acs.txt"}});
  EXPECT_TRUE(none.at_least(Severity::Info).empty()) << "pass";
  EXPECT_EQ(none.number(0, "bridges"), 1);
  EXPECT_EQ(none.number(0, "bridges.acs_capable"), 0);

  // Inside a VM the rule is not applicable.
  diagnosis::NodeFacts guest = redirect.facts(0);
  guest.topology.virtual_machine = true;
  diagnosis::Findings found;
  judge_topology(guest, {}, found);
  EXPECT_TRUE(found.empty());

  const Outcome outcome = c.diagnose({{.file = "d-topo/d24-topo.txt"}});
  EXPECT_EQ(outcome.text(0, "GPU0.gpu[GPU1]"), "PIX");
  EXPECT_EQ(outcome.text(0, "GPU2.gpu[GPU3]"), "PXB");
  for (const char* other : {"GPU0.gpu[GPU2]", "GPU0.gpu[GPU3]", "GPU1.gpu[GPU2]", "GPU1.gpu[GPU3]"}) EXPECT_EQ(outcome.text(0, other), "SYS");
}

CORPUS(d25, {{"ROCm System", "RACm System"}}) {
  const Outcome outcome = c.diagnose({{.file = "d-topo/d25-rocm-showtopo.txt"}});
  EXPECT_EQ(outcome.documents[0].format, "rocm-smi-topo") << "parsed as ROCm, never as nvidia-smi output";
  EXPECT_EQ(outcome.number(0, "gpus"), 4);
  for (int i = 0; i < 4; ++i) {
    for (int j = i + 1; j < 4; ++j) {
      const std::string name = "GPU" + std::to_string(i) + ".gpu[GPU" + std::to_string(j) + "]";
      const bool near = (i == 0 && j == 1) || (i == 2 && j == 3);  // (0,1) and (2,3)
      EXPECT_EQ(outcome.text(0, name), near ? "XGMI" : "PCIE") << name;
      EXPECT_EQ(outcome.number(0, name + ".hops"), near ? 1 : 2) << name;
      EXPECT_EQ(outcome.number(0, name + ".weight"), near ? 15 : 40) << name;
    }
  }
  EXPECT_EQ(numa(outcome, 4), (std::vector<double>{0, 0, 1, 1}));
  EXPECT_TRUE(outcome.documents[0].reading.unread.empty());
  // Forced to be what it is not, it is refused: XGMI and 15 are no labels of nvidia-smi.
  const Outcome forced = c.diagnose({{.file = "d-topo/d25-rocm-showtopo.txt", .format = "nvidia-smi-topo"}});
  EXPECT_TRUE(forced.documents[0].error);
  EXPECT_TRUE(forced.documents[0].reading.nodes.empty());
}

CORPUS(d26, {{"eth0", "eth9"}, {"0001:00", "0011:00"}}) {
  const auto count = [](const Outcome& outcome, const std::string& part, const std::string& text) {
    return std::count_if(outcome.documents[0].reading.values.begin(), outcome.documents[0].reading.values.end(), [&](const diagnosis::Value& one) {
      const auto* own = std::get_if<std::string>(&one.value);
      return one.name.ends_with(part) && own != nullptr && own->starts_with(text);
    });
  };
  const Outcome ndv4 = c.diagnose({{.file = "d-topo/d26-azure-ndv4-topo.xml"}});
  EXPECT_EQ(ndv4.documents[0].format, "nccl-topology-xml");
  EXPECT_EQ(ndv4.number(0, "numa_nodes"), 4);
  EXPECT_EQ(ndv4.number(0, "gpus"), 8);
  EXPECT_EQ(ndv4.number(0, "nics"), 8);
  EXPECT_EQ(count(ndv4, ".class", "0x0302"), 8);
  EXPECT_EQ(count(ndv4, ".class", "0x0207"), 8);
  EXPECT_EQ(ndv4.number(0, "pci[" + c.as("0001:00:00.0") + "].numa"), 1) << "numaid 1";
  EXPECT_EQ(ndv4.text(0, "pci[0003:00:00.0].nearest"), "0103:00:00.0,0104:00:00.0") << "2 GPUs + 2 NICs per switch";
  EXPECT_EQ(ndv4.text(0, "pci[0004:00:00.0].nearest"), "0103:00:00.0,0104:00:00.0");
  EXPECT_EQ(ndv4.text(0, "pci[0003:00:00.0].nearest.link"), "PIX");
  EXPECT_EQ(count(ndv4, ".switch", "ffff:ff:01.0"), 4);
  EXPECT_EQ(ndv4.number(0, "pci[0003:00:00.0].link_speed"), 16) << "16 GT/s";
  EXPECT_TRUE(ndv4.at_least(Severity::Info).empty());

  const Outcome ndv5 = c.diagnose({{.file = "d-topo/d26-azure-ndv5-topo.xml"}});
  EXPECT_EQ(ndv5.number(0, "numa_nodes"), 2);
  EXPECT_EQ(ndv5.number(0, "gpus"), 8);
  EXPECT_EQ(ndv5.number(0, "nics"), 8);
  EXPECT_EQ(ndv5.text(0, "numa[0].cpus"), "0-47");
  EXPECT_EQ(ndv5.text(0, "numa[1].cpus"), "48-95");
  EXPECT_EQ(ndv5.text(0, "pci[0002:00:00.0].nearest"), "0102:00:00.0") << "one pair per switch";
  EXPECT_EQ(count(ndv5, ".switch", "ffff:ff:02.0"), 2);
  EXPECT_EQ(ndv5.number(0, "pci[0002:00:00.0].link_speed"), 32.0) << "32.0 GT/s PCIe";

  const Outcome ncv4 = c.diagnose({{.file = "d-topo/d26-azure-ncv4-topo.xml"}});
  EXPECT_EQ(ncv4.number(0, "gpus"), 4);
  EXPECT_EQ(ncv4.number(0, "numa_nodes"), 4);
  EXPECT_EQ(ncv4.number(0, "nets"), 1);
  EXPECT_EQ(ncv4.number(0, "net[" + c.as("eth0") + "].speed"), 100000);
  EXPECT_EQ(ncv4.number(0, "nics.infiniband"), 0) << "no InfiniBand";
  EXPECT_TRUE(ncv4.at_least(Severity::Warning).empty()) << "empty attributes are accepted: link_speed, and link_width 0";

  const Outcome graph = c.diagnose({{.file = "d-topo/d26-azure-ncv4-graph.xml", .format = "nccl-topology-xml"}});
  ASSERT_TRUE(graph.documents[0].error);
  EXPECT_TRUE(has(graph.documents[0].error->message, "root element is graphs")) << graph.documents[0].error->message;
  EXPECT_TRUE(has(graph.documents[0].error->message, "no topology"));
  const Outcome seen = c.diagnose({{.file = "d-topo/d26-azure-ncv4-graph.xml"}});
  EXPECT_EQ(seen.finding("nccl-graph-file").severity, Severity::Warning);
  EXPECT_TRUE(seen.documents[0].reading.nodes.empty()) << "not a topology";

  // The bus ids are compared with those of the node: the table of d30 has none of them.
  const Outcome other = c.diagnose({{.file = "d-topo/d26-azure-ndv4-topo.xml"}, {.file = "d-topo/d30-nvidia-smi-mig-mixed.txt"}});
  EXPECT_EQ(other.finding("nccl-topo-file").severity, Severity::Error);
  diagnosis::NodeFacts own = ndv4.facts(0);
  own.topology.pci_devices = own.topology.files[0].gpus;
  diagnosis::Findings found;
  judge_topology(own, {}, found);
  EXPECT_TRUE(found.empty());
}

CORPUS(d28, {{"nvml", "nvmi"}, {"0002:01", "0005:01"}}) {
  const Outcome dgx = c.diagnose({{.file = "d-topo/d28-hwloc-dgx2.xml"}});
  EXPECT_EQ(dgx.documents[0].format, "hwloc-xml");
  EXPECT_EQ(dgx.number(0, "gpus"), 16);
  for (int i = 0; i < 16; ++i) {
    const std::string gpu = "GPU" + std::to_string(i);
    EXPECT_EQ(dgx.number(0, gpu + ".package"), i < 8 ? 0 : 1) << gpu << ": to nvml7 on package 0, nvml8 to nvml15 on package 1";
    EXPECT_EQ(dgx.text(0, gpu + ".os_devices"), c.as("nvml") + std::to_string(i)) << "nvml0 is GPU 0";
  }
  EXPECT_EQ(dgx.number(0, "nvswitches"), 11) << "class 0680, no GPUs";
  EXPECT_EQ(dgx.number(0, "bridges"), 60);
  EXPECT_EQ(dgx.number(0, "cpus"), 4) << "only 4 CPUs are described";
  EXPECT_EQ(dgx.number(0, "packages"), 2);

  const Outcome power = c.diagnose({{.file = "d-topo/d28-hwloc-power8-gpu.xml"}});
  EXPECT_EQ(power.number(0, "gpus"), 4) << "not 12: the 12 OS devices are merged";
  size_t devices = 0;
  std::map<double, int> packages;
  Names bus_ids;
  for (int i = 0; i < 4; ++i) {
    const std::string gpu = "GPU" + std::to_string(i);
    bus_ids.push_back(power.text(0, gpu + ".bus_id"));
    const std::string names = power.text(0, gpu + ".os_devices");
    devices += static_cast<size_t>(std::count(names.begin(), names.end(), ',')) + 1;
    ++packages[power.number(0, gpu + ".package")];
  }
  EXPECT_EQ(bus_ids, (Names{c.as("0002:01:00.0"), "0003:01:00.0", "000a:01:00.0", "000b:01:00.0"}));
  EXPECT_EQ(devices, 12u) << "cuda, opencl and nvml";
  EXPECT_EQ(packages.size(), 2u);
  for (const auto& [package, gpus] : packages) EXPECT_EQ(gpus, 2) << "two per package, also on " << package;
  EXPECT_EQ(power.number(0, "cores"), 8) << "8 cores";
  EXPECT_EQ(power.number(0, "cpus"), 16) << "16 CPUs, of the file and not of this machine";
  EXPECT_EQ(power.number(0, "numa_nodes"), 2);
}

CORPUS(d29, {{"wide", "vast"}}) {
  const std::string scenario = c.text("d-topo/d29-scenario.yaml");
  ASSERT_TRUE(has(scenario, "nics: 36") && has(scenario, "nics: 31") && has(scenario, "256") && has(scenario, "1024"));
  const auto warnings = [](int nics, const std::string& nccl) {
    diagnosis::NodeFacts node;
    for (int i = 0; i < nics; ++i) node.topology.nics.push_back({.label = "NIC" + std::to_string(i), .device = {}, .bus_id = {}, .numa = {}});
    node.nccl.loaded_version = nccl;
    diagnosis::Findings found;
    judge_topology(node, {}, found);
    return found;
  };
  const auto wide = warnings(36, "2.30.4");
  ASSERT_EQ(wide.size(), 1u);
  EXPECT_EQ(wide[0].id, "topology-xml-node-limit");
  EXPECT_EQ(wide[0].severity, Severity::Warning);
  EXPECT_TRUE(has(wide[0].message, "topology XML node limit")) << wide[0].message;
  EXPECT_TRUE(has(wide[0].message, "256")) << wide[0].message;
  EXPECT_TRUE(warnings(31, "2.30.4").empty()) << "31 NICs: no warning";
  EXPECT_EQ(warnings(32, "2.30.4").size(), 1u) << "the rule starts at 32";
  EXPECT_TRUE(warnings(36, "2.19.4").empty()) << "not affected";
  // Our own reader takes at least 1024 elements.
  std::string xml = "<system version=\"1\"><cpu numaid=\"0\" affinity=\"ff\" arch=\"x86_64\">";
  for (int i = 0; i < 1024; ++i) xml += "<pci busid=\"0000:" + std::string(i % 2 ? "1" : "2") + "0:00." + std::to_string(i % 8) + "\" class=\"0x060400\"/>";
  xml += "<pci busid=\"0000:30:00.0\" class=\"0x030200\"/></cpu></system>";
  const auto document = diagnosis::read_document("own", "", xml, "", {});
  ASSERT_FALSE(document.error);
  const auto elements = std::find_if(document.reading.values.begin(), document.reading.values.end(), [](const auto& one) { return one.name == "elements"; });
  ASSERT_NE(elements, document.reading.values.end());
  EXPECT_EQ(std::get<std::int64_t>(elements->value), 1024 + 3);
  EXPECT_TRUE(document.reading.findings.empty());
}

CORPUS(d30, {{"00000000:17:00.0", "00000000:27:00.0"}}) {
  diagnosis::Policy policy;
  policy.gpus = 3;
  const Outcome outcome = c.diagnose({{.file = "d-topo/d30-nvidia-smi-mig-mixed.txt"}}, policy);
  EXPECT_EQ(outcome.number(0, "gpus"), 3);
  EXPECT_EQ(outcome.number(0, "whole_gpus"), 2) << "whole-GPU capacity is 2, not 3";
  EXPECT_EQ(whole_gpus(of(outcome)), (std::vector<std::int32_t>{1, 2})) << "GPU 1 and GPU 2 are usable";
  const auto mig = outcome.finding("gpu-mig-mode");
  EXPECT_EQ(mig.subject, "GPU0");
  EXPECT_TRUE(has(mig.message, "GPU 0: MIG enabled, excluded")) << mig.message;
  EXPECT_TRUE(has(mig.message, "bus " + c.as("00000000:17:00.0"))) << mig.message;
  EXPECT_TRUE(has(mig.message, "tensor parallelism over its slices has no peer access")) << "no P2P";
  const auto count = outcome.finding("gpu-count");
  EXPECT_EQ(count.severity, Severity::Error) << "a worker that asks for 3 must not be placed here";
  EXPECT_EQ(count.seen + " " + count.wanted, "2 3");
  EXPECT_EQ(fit(of(outcome), {0, 1}), GroupFit::Sliced);
  EXPECT_EQ(outcome.text(0, "GPU0.name"), "NVIDIA A100-PCI...");
  EXPECT_EQ(outcome.number(0, "GPU1.utilisation"), 97);
  EXPECT_TRUE(outcome.documents[0].reading.unread.empty()) << "N/A is not a parse error";
  EXPECT_EQ(c.diagnose({{.file = "d-topo/d30-nvidia-smi-mig-mixed.txt"}}).at_least(Severity::Unknown).size(), 0u);
}

CORPUS(d32, {{"0-71", "0-63"}}) {
  const Outcome outcome = c.diagnose({{.file = "d-topo/d32-lscpu-numa.txt"}});
  EXPECT_EQ(outcome.documents[0].format, "lscpu");
  EXPECT_EQ(outcome.number(0, "numa_nodes"), 34);
  EXPECT_EQ(outcome.number(0, "numa_nodes.with_cpus"), 2) << "2, not 34";
  EXPECT_EQ(outcome.text(0, "numa_nodes.with_cpus.ids"), "0,1");
  // What NVML returns, one line a GPU: index, node, CPUs.
  diagnosis::NodeFacts node = outcome.facts(0);
  std::istringstream table(c.text("d-topo/d32-nvml-nodes.tsv"));
  std::string line;
  std::getline(table, line);
  while (std::getline(table, line)) {
    std::istringstream row(line);
    topology::Gpu gpu;
    std::int32_t own = 0;
    std::string cpus_of;
    row >> gpu.index >> own >> cpus_of;
    gpu.numa = {own};
    gpu.cpus = cpus_of;
    node.topology.gpus.push_back(gpu);
  }
  ASSERT_EQ(node.topology.gpus.size(), 4u);
  const std::vector<std::int32_t> given{2, 10, 18, 26};
  const auto plans = pin_plans(node.topology);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(node.topology.gpus[i].numa, std::set<std::int32_t>{given[i]});
    EXPECT_TRUE(is_memory_only(node.topology, given[i])) << given[i];
    EXPECT_EQ(plans[i].node, i < 2 ? 0 : 1) << "never node 2";
    EXPECT_EQ(plans[i].cpus, i < 2 ? c.as("0-71") : "72-143") << "never an empty set";
    EXPECT_TRUE(plans[i].fell_back);
  }
  diagnosis::Findings found;
  judge_topology(node, {}, found);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].id, "numa-memory-only-node");
  EXPECT_TRUE(has(found[0].message, "GPU0 is given node 2, its CPUs are on node 0")) << found[0].message;
}

}  // namespace
}  // namespace verl::corpus
