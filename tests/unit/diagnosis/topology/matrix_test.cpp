#include "diagnosis/topology/pinning.h"
#include "tests/unit/diagnosis/topology/read.h"

namespace verl::diagnosis {
namespace {

constexpr std::string_view kPair =
    "\tGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n"
    "GPU0\t X \tNV6\tPIX\tSYS\t0-15\t0\t\tN/A\n"
    "GPU1\tNV6\t X \tSYS\tPXB\t16-31\t1\t\tN/A\n"
    "NIC0\tPIX\tSYS\t X \tSYS\t\t\t\t\n"
    "NIC1\tSYS\tPXB\tSYS\t X \t\t\t\t\n"
    "\nLegend:\n\n  X    = Self\n  NV#  = Connection traversing a bonded set of # NVLinks\n\n"
    "NIC Legend:\n\n  NIC0: rdma_a\n  NIC1: rdma_b\n";

TEST(Matrix, ReadsTheWholeTable) {
  const ReadDocument document = read(kPair);
  EXPECT_EQ(document.format, "nvidia-smi-topo");
  EXPECT_EQ(value(document, "gpus"), "2");
  EXPECT_EQ(value(document, "nics"), "2");
  EXPECT_EQ(value(document, "GPU0.gpu[GPU1]"), "NV6");
  EXPECT_EQ(value(document, "GPU1.nic[NIC1]"), "PXB");
  EXPECT_EQ(value(document, "GPU1.cpus"), "16-31");
  EXPECT_EQ(value(document, "GPU1.nearest"), "NIC1");
  EXPECT_EQ(value(document, "NIC1.device"), "rdma_b");
  EXPECT_EQ(value(document, "nvlink.groups"), "GPU0,GPU1");
  EXPECT_TRUE(document.reading.unread.empty());
  EXPECT_EQ(complaints({document}), Complaints{});
  EXPECT_EQ(complaints({document}, {}, Severity::Info), (Complaints{"rails-suggested NCCL_IB_HCA info"}));
}

TEST(Matrix, ReadsOtherLayoutsTheSame) {
  const ReadDocument usual = read(kPair);
  // Underlined header, as a terminal gets it; the escape byte may be lost on the way.
  std::string text(kPair);
  for (const std::string_view escape : {"\x1b[4m", "[4m", "^[[4m"}) {
    std::string styled = text;
    styled.replace(styled.find("GPU0"), 4, std::string(escape) + "GPU0");
    styled.replace(styled.find("GPU NUMA ID"), 11, "GPU NUMA ID" + (escape[0] == '\x1b' ? std::string("\x1b[0m") : std::string("[0m")));
    const ReadDocument document = read(styled);
    EXPECT_EQ(document.format, "nvidia-smi-topo") << escape;
    EXPECT_EQ(document.reading.values, usual.reading.values) << escape;
  }
  // Windows line ends, indentation, a report around it.
  std::string crlf;
  for (const char c : text) crlf += c == '\n' ? std::string("\r\n") : std::string(1, c);
  EXPECT_EQ(read(crlf).reading.values, usual.reading.values);
  const ReadDocument report = read("Versions of things: 1\nTopology:\n" + text + "SOME_VARIABLE=1\n");
  EXPECT_EQ(report.reading.values, usual.reading.values);
  ASSERT_EQ(report.reading.unread.size(), 3u);
  EXPECT_EQ(report.reading.unread[2].text, "SOME_VARIABLE=1");
}

TEST(Matrix, ReadsBlanksForTabs) {
  const ReadDocument squeezed = read("GPU0 GPU1 CPU Affinity NUMA Affinity GPU NUMA ID\nGPU0 X PHB 0-7 0 N/A\nGPU1 PHB X 8-15 1 N/A\n");
  EXPECT_EQ(value(squeezed, "GPU1.cpus"), "8-15");
  EXPECT_EQ(value(squeezed, "GPU1.numa"), "1");
  // One cell is empty and the columns tell which.
  const ReadDocument aligned = read(
      "        GPU0    GPU1    CPU Affinity    NUMA Affinity\n"
      "GPU0     X      PHB     0-7             0\n"
      "GPU1    PHB      X                      1\n");
  EXPECT_EQ(value(aligned, "GPU1.cpus"), "");
  EXPECT_EQ(value(aligned, "GPU1.numa"), "1");
  // One cell is empty and nothing tells which: then none is believed.
  const ReadDocument lost = read("GPU0 GPU1 CPU Affinity NUMA Affinity\nGPU0 X PHB 0-7 0\nGPU1 PHB X 1\n");
  EXPECT_EQ(value(lost, "GPU1.cpus"), "-");
  EXPECT_EQ(value(lost, "GPU1.numa"), "-");
  EXPECT_EQ(complaints({lost}), (Complaints{"document-incomplete damaged rows unknown"}));
}

TEST(Matrix, TakesGluedCellsApartOnlyWhereThatIsSure) {
  const ReadDocument glued = read(
      "\tGPU0\tGPU1\tGPU2\tCPU Affinity\tNUMA Affinity\n"
      "GPU0\t X \tNV4NV4\t0-7\t0\n"
      "GPU1\tNV4\t X \tSY8-15\t1\n"
      "GPU2\tNV4\tSYS\t X \t8-15\t1\n");
  EXPECT_EQ(value(glued, "GPU0.gpu[GPU2]"), "NV4");
  EXPECT_EQ(value(glued, "GPU1.gpu[GPU2]"), "SYS") << "from the other half";
  EXPECT_EQ(value(glued, "GPU1.cpus"), "8-15");
  EXPECT_TRUE(topology_of(glued).gpus[1].cpus_repaired);
  EXPECT_EQ(value(glued, "GPU1.pin.cpus"), "-") << "a repaired list is shown and not pinned to";
  // Where NV12 ends and the CPUs begin cannot be told.
  const ReadDocument unsure = read("\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tNV124-7\t0\nGPU1\tNV12\t X \t0-7\t0\n");
  EXPECT_EQ(value(unsure, "GPU0.cpus"), "-");
  EXPECT_EQ(value(unsure, "GPU0.gpu[GPU1]"), "NV12") << "from the other half";
}

TEST(Matrix, RefusesWhatIsShifted) {
  const ReadDocument shifted = read("\tGPU0\tGPU1\tCPU Affinity\nGPU0\tPHB\t X \t0-7\nGPU1\t X \tPHB\t0-7\n");
  ASSERT_TRUE(shifted.error);
  EXPECT_NE(shifted.error->message.find("row GPU0 is shifted"), std::string::npos);
  const ReadDocument columnless = read("\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tPHB\t0-7\nGPU1\tPHB\t X \t0-7\nGPU2\tPHB\tPHB\t0-7\n");
  ASSERT_TRUE(columnless.error);
  EXPECT_NE(columnless.error->message.find("row GPU2 has no column"), std::string::npos);
  const ReadDocument peer = read(" \tGPU0\tGPU1\nGPU0\tX\tOK\nGPU1\tOK\tX\n\nLegend:\n  X = Self\n  OK = Status Ok\n", "nvidia-smi-topo");
  EXPECT_FALSE(peer.error && peer.error->message.empty());
}

TEST(Matrix, NamesWhatIsCut) {
  const std::string text(kPair);
  // At every byte: never a crash, never a relation or CPU list that the whole table does not have.
  const ReadDocument whole = read(text);
  for (size_t end = 0; end < text.size(); ++end) {
    const ReadDocument part = read(std::string_view(text).substr(0, end), "nvidia-smi-topo");
    for (const Value& one : part.reading.values) {
      const bool relation = one.name.find("].") == std::string::npos && one.name.find('[') != std::string::npos;
      if (!relation || value(part, one.name) == "unknown") continue;
      EXPECT_EQ(value(part, one.name), value(whole, one.name)) << one.name << " at byte " << end;
    }
    const bool rows_missing = end < text.find("NIC1\tSYS\tPXB\tSYS\t X");
    if (!part.error && rows_missing) {
      EXPECT_TRUE(topology_of(part).incomplete) << end;
    }
  }
}

TEST(Matrix, KeepsContradictionsUnknown) {
  const ReadDocument document = read("\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\nGPU0\t X \tNV4\t0-7\t0\nGPU1\tNV2\t X \t0-7\t0\n");
  EXPECT_EQ(value(document, "GPU0.gpu[GPU1]"), "unknown");
  EXPECT_EQ(complaints({document}), (Complaints{"document-incomplete relations unknown"}));
}

TEST(Matrix, KnowsAPcieViewByItsLegend) {
  constexpr std::string_view kTable = "\tGPU0\tGPU1\tCPU Affinity\nGPU0\t X \tPHB\t0-7\nGPU1\tPHB\t X \t0-7\n\nLegend:\n\n";
  constexpr std::string_view kLegend = "  X    = Self\n  SYS  = a\n  NODE = b\n  PHB  = c\n  PXB  = d\n  PIX  = e\n";
  EXPECT_EQ(value(read(std::string(kTable) + std::string(kLegend)), "nvlink.shown"), "false");
  EXPECT_EQ(value(read(std::string(kTable) + std::string(kLegend) + "  NV#  = f\n"), "nvlink.shown"), "true");
  EXPECT_EQ(value(read(kTable), "nvlink.shown"), "-") << "no legend tells nothing";
}

TEST(Matrix, ReadsGraceNodesAsLocality) {
  const ReadDocument document = read(
      "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n"
      "GPU0\t X \tNV18\t0-71\t0,2-9\t\t2\n"
      "GPU1\tNV18\t X \t72-143\t1,10-17\t\t10\n");
  EXPECT_EQ(value(document, "GPU1.memory_node"), "10");
  EXPECT_EQ(value(document, "GPU1.numa"), "1,10-17");
  EXPECT_EQ(complaints({document}), Complaints{});
  EXPECT_EQ(value(document, "GPU1.pin.node"), "-") << "which of them has CPUs is not known from this alone";
  const ReadDocument cpus = read("NUMA node(s): 18\nNUMA node0 CPU(s): 0-71\nNUMA node1 CPU(s): 72-143\n" + [] {
    std::string rest;
    for (int i = 2; i < 18; ++i) rest += "NUMA node" + std::to_string(i) + " CPU(s):\n";
    return rest;
  }());
  NodeFacts node = document.reading.nodes.front().second;
  merge(node, cpus.reading.nodes.front().second);
  EXPECT_EQ(pin_plan(node.topology, node.topology.gpus[1]).node, 1);
}

}  // namespace
}  // namespace verl::diagnosis
