// One firing test and one near miss for each rule that needs the facts of a node.
#include "tests/unit/diagnosis/topology/read.h"

namespace verl::diagnosis {
namespace {

// A matrix of `relations[i][j]`, CPUs and nodes as given.
std::string matrix(const std::vector<std::vector<std::string>>& rows, const std::vector<std::string>& cpus, const std::vector<std::string>& numa, size_t nics = 0) {
  std::string text = "\t";
  const size_t gpus = rows.size() - nics;
  const auto label = [&](size_t i) { return i < gpus ? "GPU" + std::to_string(i) : "NIC" + std::to_string(i - gpus); };
  for (size_t i = 0; i < rows.size(); ++i) text += label(i) + "\t";
  text += "CPU Affinity\tNUMA Affinity\n";
  for (size_t i = 0; i < rows.size(); ++i) {
    text += label(i);
    for (const std::string& cell : rows[i]) text += "\t" + cell;
    if (i < gpus) text += "\t" + cpus[i] + "\t" + numa[i];
    text += "\n";
  }
  return text;
}

std::string uniform(size_t gpus, const std::string& cell, const std::string& cpus, const std::string& numa) {
  std::vector<std::vector<std::string>> rows(gpus, std::vector<std::string>(gpus, cell));
  for (size_t i = 0; i < gpus; ++i) rows[i][i] = "X";
  return matrix(rows, std::vector<std::string>(gpus, cpus), std::vector<std::string>(gpus, numa));
}

TEST(Rules, NumaLocality) {
  EXPECT_EQ(complaints({read(uniform(2, "PHB", "0-31", "0-1"))}), (Complaints{"numa-no-locality GPU0,GPU1 warning"}));
  EXPECT_EQ(complaints({read(uniform(2, "PHB", "0-31", "0"))}), Complaints{});
  EXPECT_EQ(complaints({read(uniform(2, "PHB", "", ""))}), (Complaints{"numa-no-locality GPU0,GPU1 warning"}));
  EXPECT_EQ(complaints({read(uniform(2, "PHB", "", "1"))}), (Complaints{"numa-empty-cpuset GPU0,GPU1 warning"}));
}

TEST(Rules, SingleNumaNode) {
  const ReadDocument eight = read(uniform(8, "NV18", "0-127", "0"));
  EXPECT_EQ(complaints({eight}), (Complaints{"numa-single-node  warning"}));
  EXPECT_EQ(complaints({read(uniform(4, "NV18", "0-127", "0"))}), Complaints{});
  const ReadDocument one_socket = read("Socket(s): 1\nNUMA node(s): 1\nNUMA node0 CPU(s): 0-127\n");
  EXPECT_EQ(complaints({eight, one_socket}), Complaints{}) << "one socket is one node";
  Policy policy;
  policy.numa_nodes = 2;
  EXPECT_EQ(complaints({one_socket}, policy), (Complaints{"numa-topology NUMA nodes error"}));
  EXPECT_EQ(complaints({read("Socket(s): 2\nNUMA node(s): 1\nNUMA node0 CPU(s): 0-127\n")}), (Complaints{"numa-single-node  warning"}));
}

TEST(Rules, CpuLists) {
  EXPECT_EQ(complaints({read(uniform(2, "PHB", "0,4,8,12,16,", "0"))}), (Complaints{"cpu-list-truncated GPU0,GPU1 warning"}));
  EXPECT_EQ(complaints({read(uniform(2, "PHB", "0-51,104-155", "0"))}), Complaints{}) << "12 characters and whole";
  EXPECT_EQ(complaints({read(uniform(2, "PHB", "3-3", "0"))}), (Complaints{"cpu-list-unusable GPU0,GPU1 warning"}));
}

TEST(Rules, NearNics) {
  const auto judged = [](const std::string& first, const std::string& second) {
    return complaints({read(matrix({{"X", "PHB", first}, {"PHB", "X", second}, {first, second, "X"}}, {"0-7", "0-7"}, {"0", "0"}, 1))});
  };
  EXPECT_EQ(judged("SYS", "SYS"), (Complaints{"numa-topology NICs warning"}));
  EXPECT_EQ(judged("NODE", "SYS"), (Complaints{"gpu-nic-cross-socket GPU1 warning"}));
  EXPECT_EQ(judged("NODE", "NODE"), Complaints{});
}

TEST(Rules, MissingNvlink) {
  const auto with = [](const std::string& cell) {
    std::vector<std::vector<std::string>> rows(8, std::vector<std::string>(8, "NV18"));
    for (size_t i = 0; i < 8; ++i) {
      rows[5][i] = cell;
      rows[i][5] = cell;
      rows[i][i] = "X";
    }
    rows[5][5] = "X";
    std::vector<std::string> numa{"0", "0", "0", "0", "1", "1", "1", "1"};
    return read(matrix(rows, std::vector<std::string>(8, "0-31"), numa));
  };
  EXPECT_EQ(complaints({with("NV18")}), Complaints{});
  EXPECT_EQ(complaints({with("NV16")}), (Complaints{"gpu-nvlink GPU5 error"}));
  const Complaints dead = complaints({with("SYS")});
  ASSERT_FALSE(dead.empty());
  EXPECT_EQ(dead.front(), "gpu-nvlink GPU5 error");
  // A mesh of bridges differs by design, and pairs by number are what ranks use.
  const ReadDocument bridges = read(matrix({{"X", "NV12", "SYS", "SYS"}, {"NV12", "X", "SYS", "SYS"}, {"SYS", "SYS", "X", "NV12"}, {"SYS", "SYS", "NV12", "X"}},
                                           {"0-7", "0-7", "8-15", "8-15"}, {"0", "0", "1", "1"}));
  EXPECT_EQ(complaints({bridges}), Complaints{});
  EXPECT_EQ(complaints({bridges}, {}, Severity::Info), (Complaints{"gpu-nvlink-groups GPUs info"}));
  const ReadDocument crossed = read(matrix({{"X", "SYS", "NV12", "SYS"}, {"SYS", "X", "SYS", "NV12"}, {"NV12", "SYS", "X", "SYS"}, {"SYS", "NV12", "SYS", "X"}},
                                           {"0-7", "0-7", "8-15", "8-15"}, {"0", "0", "1", "1"}));
  EXPECT_EQ(complaints({crossed}), (Complaints{"gpu-nvlink-groups GPUs warning"}));
}

TEST(Rules, GpuCount) {
  Policy policy;
  policy.gpus = 4;
  EXPECT_EQ(complaints({read(uniform(3, "PHB", "0-31", "0"))}, policy), (Complaints{"gpu-count GPUs error"}));
  EXPECT_EQ(complaints({read(uniform(4, "PHB", "0-31", "0"))}, policy), Complaints{});
}

TEST(Rules, AccessControlServices) {
  const auto bridge = [](const std::string& control) {
    return "0000:17:01.0 PCI bridge: Maker Switch (rev 01)\n\tBus: primary=16, secondary=1a, subordinate=1c, sec-latency=0\n\tCapabilities: [148 v1] Access Control Services\n"
           "\t\tACSCap:\tSrcValid+ TransBlk+ ReqRedir+ CmpltRedir+ UpstreamFwd+ EgressCtrl- DirectTrans+\n\t\tACSCtl:\t" + control + "\n\n";
  };
  const std::string on = bridge("SrcValid+ TransBlk- ReqRedir+ CmpltRedir- UpstreamFwd- EgressCtrl- DirectTrans-");
  EXPECT_EQ(complaints({read(on)}), (Complaints{"pcie-acs 0000:17:01.0 error"}));
  EXPECT_EQ(complaints({read(bridge("SrcValid+ TransBlk- ReqRedir- CmpltRedir- UpstreamFwd- EgressCtrl- DirectTrans-"))}), (Complaints{"pcie-acs 0000:17:01.0 warning"}));
  EXPECT_EQ(complaints({read(bridge("SrcValid- TransBlk- ReqRedir- CmpltRedir- UpstreamFwd- EgressCtrl- DirectTrans+"))}), Complaints{});
  EXPECT_EQ(complaints({read(on), read("Socket(s): 1\nNUMA node(s): 1\nNUMA node0 CPU(s): 0-7\nHypervisor vendor: KVM\n")}), Complaints{}) << "not in a VM";
  // Only bridges above a GPU or NIC matter, where the listing shows them.
  const std::string below = "0000:1b:00.0 3D controller: NVIDIA Corporation Device 2330 (rev a1)\n\tLnkCap:\tPort #0, Speed 32GT/s, Width x16\n\tLnkSta:\tSpeed 32GT/s, Width x16\n";
  const std::string aside = "0000:9b:00.0 3D controller: NVIDIA Corporation Device 2330 (rev a1)\n";
  EXPECT_EQ(complaints({read(on + below)}), (Complaints{"pcie-acs 0000:17:01.0 error"}));
  EXPECT_EQ(complaints({read(on + aside)}), Complaints{});
  EXPECT_EQ(complaints({read("0000:17:01.0 PCI bridge: Maker Switch (rev 01)\n\tCapabilities: <access denied>\n")}), (Complaints{"pcie-acs-unreadable bridges unknown"}));
  EXPECT_EQ(complaints({read(bridge("SrcValid+ TransBlk- Req"))}).front(), "document-incomplete 0000:17:01.0 unknown");
}

TEST(Rules, PcieLinks) {
  const auto nic = [](const std::string& state) {
    return read("1a:00.0 Ethernet controller: Maker NIC\n\tLnkCap:\tPort #0, Speed 16GT/s, Width x16, ASPM not supported\n\tLnkSta:\tSpeed " + state + "\n");
  };
  EXPECT_EQ(complaints({nic("16GT/s (ok), Width x16 (ok)")}), Complaints{});
  EXPECT_EQ(complaints({nic("16GT/s (ok), Width x8 (downgraded)")}), (Complaints{"gpu-pcie-link 0000:1a:00.0 error"}));
  EXPECT_EQ(complaints({nic("8GT/s (downgraded), Width x16 (ok)")}), (Complaints{"gpu-pcie-link 0000:1a:00.0 error"}));
  EXPECT_EQ(complaints({read("1a:00.0 VGA compatible controller: ASPEED Graphics\n\tLnkCap:\tPort #0, Speed 5GT/s, Width x4\n\tLnkSta:\tSpeed 2.5GT/s, Width x1\n")}),
            Complaints{});
}

TEST(Rules, TopologyFilesAreComparedWithTheNode) {
  const ReadDocument file = read(
      "<system version=\"1\"><cpu numaid=\"0\" affinity=\"ff\"><pci busid=\"00000000:1B:00.0\" class=\"0x030200\"/><pci busid=\"0000:1c:00.0\" class=\"0x030200\"/></cpu></system>");
  const auto node = [](const std::string& rows) { return read("index, pci.bus_id\n" + rows); };
  EXPECT_EQ(complaints({file}), Complaints{}) << "nothing to compare with";
  EXPECT_EQ(complaints({file, node("0, 00000000:1B:00.0\n1, 00000000:1C:00.0\n")}), Complaints{});
  EXPECT_EQ(complaints({file, node("0, 00000000:1B:00.0\n")}), (Complaints{"nccl-topo-file text warning"}));
  EXPECT_EQ(complaints({file, node("0, 00000000:5B:00.0\n")}), (Complaints{"nccl-topo-file text error"}));
}

TEST(Rules, NodesAreCompared) {
  const auto named = [](const std::string& node, const std::string& text) { return read_document(node, node, text, "", {}); };
  const std::vector<ReadDocument> same{named("a", uniform(4, "PHB", "0-31", "0")), named("b", uniform(4, "PHB", "0-31", "0"))};
  EXPECT_EQ(complaints(same), Complaints{});
  std::vector<ReadDocument> odd = same;
  odd.push_back(named("c", uniform(2, "PHB", "0-31", "0")));
  EXPECT_EQ(complaints(odd), (Complaints{"topology-differs number of GPUs warning"}));
}

}  // namespace
}  // namespace verl::diagnosis
