#include "diagnosis/topology/model.h"

#include <gtest/gtest.h>

#include "diagnosis/topology/pinning.h"
#include "diagnosis/topology/rails.h"

namespace verl::topology {
namespace {

Facts gpus(int count) {
  Facts facts;
  for (int i = 0; i < count; ++i) {
    Gpu gpu;
    gpu.index = i;
    facts.gpus.push_back(gpu);
  }
  return facts;
}

void relate(Facts& facts, const std::string& a, const std::string& b, Link link, std::int32_t links = 0) {
  facts.relations.push_back({.a = a, .b = b, .link = link, .links = links, .weight = {}, .hops = {}});
}

void add_nic(Facts& facts, const std::string& label, const std::string& device) {
  facts.nics.push_back({.label = label, .device = device, .bus_id = {}, .numa = {}});
}

TEST(Groups, AreSplitWithMostLinks) {
  Facts mesh = gpus(4);
  relate(mesh, "GPU0", "GPU1", Link::NvLink, 1);
  relate(mesh, "GPU2", "GPU3", Link::NvLink, 1);
  relate(mesh, "GPU0", "GPU2", Link::NvLink, 2);
  relate(mesh, "GPU1", "GPU3", Link::NvLink, 2);
  relate(mesh, "GPU0", "GPU3", Link::Sys);
  relate(mesh, "GPU1", "GPU2", Link::Sys);
  const Relations relations(mesh);
  EXPECT_EQ(direct_groups(mesh, relations, 2), (std::vector<std::vector<std::int32_t>>{{0, 2}, {1, 3}}));
  EXPECT_EQ(direct_groups(mesh, relations, 4), std::nullopt);
  EXPECT_EQ(direct_groups(mesh, relations, 3), std::nullopt);
  EXPECT_EQ(group_fit(mesh, relations, {0, 3}), GroupFit::Worse);
  EXPECT_EQ(group_fit(mesh, relations, {0, 9}), GroupFit::Unknown);
  mesh.gpus[1].mig = true;
  EXPECT_EQ(group_fit(mesh, relations, {0, 1}), GroupFit::Sliced);
}

TEST(Groups, WithoutDirectLinksAreEqualOnlyWhereTheViewShowsThem) {
  Facts facts = gpus(2);
  relate(facts, "GPU0", "GPU1", Link::Phb);
  EXPECT_EQ(group_fit(facts, Relations(facts), {0, 1}), GroupFit::Unknown);
  facts.nvlink_shown = true;
  EXPECT_EQ(group_fit(facts, Relations(facts), {0, 1}), GroupFit::Equal);
}

TEST(Pinning, NeverGuesses) {
  struct Row {
    const char* what;
    std::set<std::int32_t> numa;
    std::optional<std::string> cpus;
    bool nodes;                       // 0: 0-7, 1: 8-15, 2: no CPU
    std::optional<std::int32_t> node;
    std::string pinned;
  };
  const std::vector<Row> rows{
      {"node and CPUs", {1}, "8-11", false, 1, "8-11"},
      {"node and CPUs, node known", {1}, "8-20", true, 1, "8-15"},
      {"CPUs of another node", {1}, "0-7", true, std::nullopt, ""},
      {"several nodes", {0, 1}, "0-15", false, std::nullopt, ""},
      {"several nodes, one with CPUs", {0, 2}, "0-7", true, 0, "0-7"},
      {"empty cell", {1}, "", true, std::nullopt, ""},
      {"one CPU", {1}, "1-1", false, std::nullopt, ""},
      {"no CPUs said, node known", {1}, std::nullopt, true, 1, "8-15"},
      {"no CPUs said, node unknown", {1}, std::nullopt, false, 1, ""},
      {"memory node", {2}, "0-7", true, 0, "0-7"},
      {"memory node, CPUs of both", {2}, "0-15", true, std::nullopt, ""},
      {"nothing said", {}, std::nullopt, true, std::nullopt, ""},
      {"CPUs alone", {}, "8-15", true, 1, "8-15"},
      {"CPUs alone, no nodes", {}, "8-15", false, std::nullopt, ""},
  };
  for (const Row& row : rows) {
    Facts facts = gpus(1);
    facts.gpus[0].numa = row.numa;
    facts.gpus[0].cpus = row.cpus;
    if (row.nodes) {
      facts.numa_nodes = {{.id = 0, .cpus = "0-7", .memory_bytes = {}}, {.id = 1, .cpus = "8-15", .memory_bytes = {}}, {.id = 2, .cpus = "", .memory_bytes = {}}};
    }
    const PinPlan plan = pin_plan(facts, facts.gpus[0]);
    EXPECT_EQ(plan.node, row.node) << row.what;
    EXPECT_EQ(plan.cpus, row.pinned) << row.what;
    EXPECT_EQ(plan.why_not.empty(), !row.pinned.empty()) << row.what << ": " << plan.why_not;
  }
}

TEST(Pinning, LeavesCutListsToTheSystem) {
  Facts facts = gpus(1);
  facts.gpus[0].numa = {0};
  facts.gpus[0].cpus = "0,2,4,6,8,10";
  facts.gpus[0].cpus_truncated = true;
  EXPECT_EQ(pin_plan(facts, facts.gpus[0]).cpus, "");
  facts.numa_nodes = {{.id = 0, .cpus = "0,2,4,6,8,10,12,14", .memory_bytes = {}}};
  EXPECT_EQ(pin_plan(facts, facts.gpus[0]).cpus, "0,2,4,6,8,10,12,14");
}

TEST(Rails, AreNearNicsWithLivePorts) {
  Facts facts = gpus(2);
  for (const char* number : {"0", "10", "2", "3"}) add_nic(facts, "NIC" + std::string(number), "rd_" + std::string(number));
  relate(facts, "GPU0", "NIC0", Link::Pix);
  relate(facts, "GPU0", "NIC10", Link::Sys);
  relate(facts, "GPU0", "NIC2", Link::Pix);
  relate(facts, "GPU0", "NIC3", Link::Node);
  relate(facts, "GPU1", "NIC0", Link::Sys);
  relate(facts, "GPU1", "NIC10", Link::Pxb);
  relate(facts, "GPU1", "NIC2", Link::Sys);
  relate(facts, "GPU1", "NIC3", Link::Sys);
  EXPECT_EQ(rail_devices(facts, {}).devices, (std::vector<std::string>{"rd_0", "rd_2", "rd_10"}));
  fabric::Facts fabric;
  fabric::Port down;
  down.device = "rd_2";
  down.state = "DOWN";
  fabric.ports.push_back(down);
  const Rails rails = rail_devices(facts, fabric);
  EXPECT_EQ(rails.devices, (std::vector<std::string>{"rd_0", "rd_10"}));
  EXPECT_EQ(rails.left_out, (std::vector<std::pair<std::string, std::string>>{{"rd_2", "port 1 is DOWN"}}));
  EXPECT_EQ(hca_list(rails.devices), "=rd_0,rd_10");
  facts.nics[0].device.clear();
  EXPECT_EQ(rail_devices(facts, {}).why_unknown, "the device of NIC0 is not named");
  EXPECT_EQ(rail_devices(gpus(1), {}).why_unknown, "no NIC is known");
}

TEST(Merge, JoinsViewsOfOneNode) {
  Facts matrix = gpus(2);
  matrix.gpus[0].numa = {0};
  add_nic(matrix, "NIC0", "rd_0");
  relate(matrix, "GPU0", "NIC0", Link::Pix);
  Facts table = gpus(2);
  table.gpus[0].bus_id = "0000:1b:00.0";
  table.gpus[1].mig = true;
  add_nic(table, "rd_0", "rd_0");
  for (const bool first : {true, false}) {
    Facts both = first ? matrix : table;
    merge(both, first ? table : matrix);
    ASSERT_EQ(both.gpus.size(), 2u);
    EXPECT_EQ(both.gpus[0].numa, std::set<std::int32_t>{0});
    EXPECT_EQ(both.gpus[0].bus_id, "0000:1b:00.0");
    EXPECT_EQ(both.gpus[1].mig, true);
    ASSERT_EQ(both.nics.size(), 1u);
    EXPECT_EQ(both.nics[0].label, "NIC0") << "the label that the relations use";
  }
}

}  // namespace
}  // namespace verl::topology
