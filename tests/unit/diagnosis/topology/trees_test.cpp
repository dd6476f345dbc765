// XML trees, lscpu and numactl.
#include "tests/unit/diagnosis/topology/read.h"

namespace verl::diagnosis {
namespace {

TEST(NcclTopology, ReadsADump) {
  const ReadDocument document = read(
      "<?xml version=\"1.0\"?>\n<!-- made by hand -->\n<system version=\"1\"><cpu numaid=\"1\" affinity=\"0000ff00\" arch=\"x86_64\">"
      "<pci busid=\"0000:16:00.0\" class=\"0x060400\"><pci busid=\"0000:18:00.0\" class=\"0x030200\" link_speed=\"32.0 GT/s PCIe\" link_width=\"16\">"
      "<gpu dev=\"3\" sm=\"90\" rank=\"3\" gdr=\"1\"><nvlink target=\"0000:99:00.0\" count=\"18\" tclass=\"0x068000\"/></gpu></pci>"
      "<pci busid=\"0000:19:00.0\" class=\"0x020700\"><nic><net name=\"rd_0\" dev=\"0\" speed=\"400000\" port=\"1\" gdr=\"1\"/></nic></pci></pci>"
      "<pci busid=\"0000:2a:00.0\"><nic><net name=\"rd_1\" speed=\"400000\"/></nic></pci></cpu></system>");
  EXPECT_EQ(document.format, "nccl-topology-xml");
  EXPECT_EQ(value(document, "gpus"), "1");
  EXPECT_EQ(value(document, "nics"), "2") << "a class may be missing";
  EXPECT_EQ(value(document, "numa[1].cpus"), "8-15");
  EXPECT_EQ(value(document, "pci[0000:18:00.0].nearest"), "0000:19:00.0");
  EXPECT_EQ(value(document, "pci[0000:18:00.0].nearest.link"), "PIX");
  EXPECT_EQ(value(document, "pci[0000:18:00.0].nvlink[0000:99:00.0]"), "18");
  EXPECT_EQ(value(document, "net[rd_0].speed"), "400000");
  EXPECT_EQ(complaints({document}), Complaints{});
}

TEST(Xml, RefusesWhatIsNoTopology) {
  EXPECT_TRUE(read("<system version=\"1\"><cpu numaid=\"0\">", "nccl-topology-xml").error) << "cut";
  EXPECT_TRUE(read("<graphs version=\"1\"/>", "nccl-topology-xml").error);
  EXPECT_TRUE(read("<system/>", "hwloc-xml").error);
  EXPECT_TRUE(read("<!DOCTYPE a [<!ENTITY x \"y\">]><system/>", "nccl-topology-xml").error) << "entities";
  std::string deep;
  for (int i = 0; i < 5000; ++i) deep += "<pci>";
  for (int i = 0; i < 5000; ++i) deep += "</pci>";
  EXPECT_TRUE(read("<system><cpu numaid=\"0\">" + deep + "</cpu></system>", "nccl-topology-xml").error);
  EXPECT_EQ(complaints({read("<system version=\"1\"><cpu numaid=\"0\"/></system>")}), (Complaints{"document-incomplete GPUs unknown"}));
}

TEST(NcclGraph, IsNoTopology) {
  const ReadDocument document = read("<graphs version=\"1\"><graph id=\"0\" nchannels=\"2\" typeintra=\"NVL\"><channel><gpu dev=\"0\"/></channel></graph></graphs>");
  EXPECT_EQ(document.format, "nccl-graph-xml");
  EXPECT_EQ(value(document, "graph[0].channels"), "1");
  EXPECT_EQ(value(document, "graph[0].typeintra"), "NVL");
  EXPECT_EQ(complaints({document}), (Complaints{"nccl-graph-file  warning"}));
}

TEST(Hwloc, ReadsVersionOne) {
  // Version 1 hangs PUs below NUMA nodes and calls packages sockets.
  const ReadDocument document = read(
      "<?xml version=\"1.0\"?>\n<!DOCTYPE topology SYSTEM \"hwloc.dtd\">\n<topology><object type=\"Machine\" os_index=\"0\" cpuset=\"0x000000ff\">"
      "<object type=\"NUMANode\" os_index=\"0\" cpuset=\"0x0000000f\" nodeset=\"0x00000001\" local_memory=\"1024\"><object type=\"Socket\" os_index=\"0\" "
      "cpuset=\"0x0000000f\" nodeset=\"0x00000001\"/>"
      "<object type=\"Bridge\" bridge_type=\"0-1\"><object type=\"PCIDev\" pci_busid=\"0000:1b:00.0\" pci_type=\"0302 [10de:1023] [10de:097e] a1\">"
      "<object type=\"OSDev\" name=\"cuda0\" osdev_type=\"5\"/><object type=\"OSDev\" name=\"nvml0\" osdev_type=\"1\"/></object>"
      "<object type=\"PCIDev\" pci_busid=\"0000:1c:00.0\" pci_type=\"0207 [15b3:1003] [15b3:0050] 00\"><object type=\"OSDev\" name=\"ib0\" osdev_type=\"2\">"
      "<info name=\"Address\" value=\"00:00\"/></object><object type=\"OSDev\" name=\"rd_0\" osdev_type=\"3\"><info name=\"NodeGUID\" value=\"0\"/></object></object>"
      "<object type=\"PCIDev\" pci_busid=\"0000:03:00.0\" pci_type=\"0300 [1a03:2000] [1a03:2000] 41\"/></object></object>"
      "<object type=\"NUMANode\" os_index=\"1\" cpuset=\"0x000000f0\" nodeset=\"0x00000002\"><object type=\"Socket\" os_index=\"1\" cpuset=\"0x000000f0\"/></object>"
      "</object></topology>");
  EXPECT_EQ(document.format, "hwloc-xml");
  EXPECT_EQ(value(document, "gpus"), "1") << "two OS devices and the server's own graphics";
  EXPECT_EQ(value(document, "GPU0.numa"), "0");
  EXPECT_EQ(value(document, "GPU0.cpus"), "0-3");
  EXPECT_EQ(value(document, "rd_0.numa"), "0");
  EXPECT_EQ(value(document, "numa[1].cpus"), "4-7");
  EXPECT_EQ(value(document, "packages"), "2");
  EXPECT_EQ(complaints({document}), Complaints{});
}

TEST(Lscpu, ReadsJson) {
  const ReadDocument document = read(
      "{\"lscpu\": [{\"field\": \"Socket(s):\", \"data\": \"2\"}, {\"field\": \"NUMA:\", \"data\": null, \"children\": ["
      "{\"field\": \"NUMA node(s):\", \"data\": \"2\"}, {\"field\": \"NUMA node0 CPU(s):\", \"data\": \"0-3\"}, {\"field\": \"NUMA node1 CPU(s):\", \"data\": \"\"}]}]}");
  EXPECT_EQ(document.format, "lscpu");
  EXPECT_EQ(value(document, "numa_nodes"), "2");
  EXPECT_EQ(value(document, "numa_nodes.with_cpus"), "1");
  EXPECT_EQ(value(document, "sockets"), "2");
}

TEST(Lscpu, SaysWhatIsMissing) {
  EXPECT_EQ(complaints({read("NUMA node(s): 4\nNUMA node0 CPU(s): 0-3\n")}), (Complaints{"document-incomplete NUMA nodes unknown"}));
  EXPECT_EQ(complaints({read("NUMA node(s): 1\nNUMA node0 CPU(s): 0-x\n")}), (Complaints{"document-incomplete NUMA lines unknown", "document-incomplete NUMA nodes unknown"}));
}

TEST(Numactl, ReadsNodes) {
  const ReadDocument document = read(
      "available: 2 nodes (0-1)\nnode 0 cpus: 0 1 2 3 8 9\nnode 0 size: 100 MB\nnode 0 free: 50 MB\nnode 1 cpus:\nnode 1 size: 200 MB\nnode 1 free: 200 MB\n"
      "node distances:\nnode   0   1\n  0:  10  80\n  1:  80  10\n");
  EXPECT_EQ(document.format, "numactl-hardware");
  EXPECT_EQ(value(document, "numa[0].cpus"), "0-3,8-9");
  EXPECT_EQ(value(document, "numa[1].cpus"), "");
  EXPECT_EQ(value(document, "numa[1].memory"), std::to_string(200LL << 20));
  EXPECT_EQ(value(document, "distance[0][1]"), "80");
  EXPECT_TRUE(document.reading.unread.empty());
  EXPECT_EQ(complaints({read("available: 2 nodes (0-1)\nnode 0 cpus: 0 1\n")}), (Complaints{"document-incomplete NUMA nodes unknown"}));
}

}  // namespace
}  // namespace verl::diagnosis
