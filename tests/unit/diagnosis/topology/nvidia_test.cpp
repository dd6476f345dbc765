#include "tests/unit/diagnosis/topology/read.h"

namespace verl::diagnosis {
namespace {

constexpr std::string_view kWide =
    "Tue Nov  3 10:11:12 2026\n"
    "+-----------------------------------------------------------------------------------------+\n"
    "| NVIDIA-SMI 560.10.01              Driver Version: 560.10.01      CUDA Version: 12.6     |\n"
    "|-----------------------------------------+------------------------+----------------------+\n"
    "| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |\n"
    "| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |\n"
    "|                                         |                        |               MIG M. |\n"
    "|=========================================+========================+======================|\n"
    "|   0  NVIDIA H100 80GB HBM3          On  |   00000000:2A:00.0 Off |                    0 |\n"
    "| N/A   32C    P0             72W /  700W |      11MiB /  81559MiB |      5%      Default |\n"
    "|                                         |                        |             Disabled |\n"
    "+-----------------------------------------+------------------------+----------------------+\n"
    "|   1  NVIDIA H100 80GB HBM3          On  |   00000000:3A:00.0 Off |                   On |\n"
    "| N/A   30C    P0            ERR! /  700W |      12MiB /  81559MiB |     N/A      Default |\n"
    "|                                         |                        |              Enabled |\n"
    "+-----------------------------------------+------------------------+----------------------+\n"
    "\n"
    "+-----------------------------------------------------------------------------------------+\n"
    "| MIG devices:                                                                            |\n"
    "+------------------+----------------------------------+-----------+-----------------------+\n"
    "| GPU  GI  CI  MIG |                     Memory-Usage |        Vol|        Shared         |\n"
    "|      ID  ID  Dev |                       BAR1-Usage | SM     Unc| CE ENC  DEC  OFA  JPG |\n"
    "|                  |                                  |        ECC|                       |\n"
    "|==================+==================================+===========+=======================|\n"
    "|  1    2   0   0  |              12MiB /  40192MiB    | 60      0 |  3   0    3    0    3 |\n"
    "|                  |                 0MiB / 65535MiB  |           |                       |\n"
    "+------------------+----------------------------------+-----------+-----------------------+\n"
    "\n"
    "+-----------------------------------------------------------------------------------------+\n"
    "| Processes:                                                                              |\n"
    "|  GPU   GI   CI        PID   Type   Process name                              GPU Memory |\n"
    "|        ID   ID                                                               Usage      |\n"
    "|=========================================================================================|\n"
    "|    0   N/A  N/A      4242      C   python                                       1024MiB |\n"
    "+-----------------------------------------------------------------------------------------+\n";

TEST(NvidiaSmi, ReadsTheWideTable) {
  const ReadDocument document = read(kWide);
  EXPECT_EQ(document.format, "nvidia-smi");
  EXPECT_EQ(value(document, "gpus"), "2");
  EXPECT_EQ(value(document, "GPU0.name"), "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(value(document, "GPU0.bus_id"), "0000:2a:00.0");
  EXPECT_EQ(value(document, "GPU0.memory_used"), std::to_string(11LL << 20));
  EXPECT_EQ(value(document, "GPU0.utilisation"), "5");
  EXPECT_EQ(value(document, "GPU1.utilisation"), "-");
  EXPECT_EQ(value(document, "GPU1.mig_slices"), "1");
  EXPECT_EQ(value(document, "driver_version"), "560.10.01");
  EXPECT_EQ(value(document, "cuda_version"), "12.6");
  EXPECT_EQ(value(document, "processes"), "1");
  EXPECT_EQ(value(document, "whole_gpus"), "1");
  EXPECT_TRUE(document.reading.unread.empty()) << document.reading.unread.front().text;
  EXPECT_EQ(complaints({document}), (Complaints{"gpu-lost GPU1 error", "gpu-mig-mode GPU1 warning"}));
}

TEST(NvidiaSmi, SaysWhatIsCut) {
  const std::string_view part = kWide.substr(0, kWide.find("| N/A   30C"));
  EXPECT_EQ(complaints({read(part)}), (Complaints{"document-incomplete GPU1 unknown"}));
  const size_t ends[] = {0, 300, kWide.size()};
  for (size_t end = ends[1]; end < ends[2]; end += 7) read(kWide.substr(0, end), "nvidia-smi");
}

TEST(NvidiaSmi, TakesARefusalForAFault) {
  const ReadDocument document = read(
      "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.\n");
  EXPECT_EQ(complaints({document}), (Complaints{"gpu-lost  error"}));
  EXPECT_EQ(complaints({read("Unable to determine the device handle for GPU0000:9B:00.0: GPU is lost.  Reboot the system to recover this GPU\n")}),
            (Complaints{"gpu-lost  error"}));
}

TEST(NvidiaQuery, JudgesWidthAlwaysAndSpeedUnderLoad) {
  constexpr std::string_view kHeader = "index, pci.bus_id, pstate, utilization.gpu [%], pcie.link.gen.current, pcie.link.gen.max, pcie.link.width.current, pcie.link.width.max\n";
  const auto judged = [&](const std::string& row) { return complaints({read(std::string(kHeader) + row)}, {}, Severity::Info); };
  EXPECT_EQ(judged("0, 00000000:2A:00.0, P0, 90 %, 5, 5, 16, 16\n"), Complaints{});
  EXPECT_EQ(judged("0, 00000000:2A:00.0, P0, 90 %, 3, 5, 16, 16\n"), (Complaints{"gpu-pcie-link GPU0 error"}));
  EXPECT_EQ(judged("0, 00000000:2A:00.0, P8, 0 %, 1, 5, 16, 16\n"), (Complaints{"gpu-pcie-link GPU0 info"}));
  EXPECT_EQ(judged("0, 00000000:2A:00.0, P8, 0 %, 1, 5, 8, 16\n"), (Complaints{"gpu-pcie-link GPU0 error"}));
  EXPECT_EQ(judged("0, 00000000:2A:00.0, [N/A], [N/A], 1, 5, 16, 16\n"), (Complaints{"gpu-pcie-link GPU0 warning"}));
  EXPECT_EQ(judged("0, 00000000:2A:00.0, [Unknown Error], 0 %, 5, 5, 16, 16\n"), (Complaints{"gpu-lost GPU0 error"}));
  EXPECT_EQ(judged("0, 00000000:2A:00.0, P0, 90 %, 5\n"), (Complaints{"document-unreadable text unknown"})) << "a cut row";
}

TEST(NvidiaQuery, GivesEveryFieldWithItsUnit) {
  const ReadDocument document = read("index, name, memory.total [MiB], mig.mode.current, driver_version\n3, NVIDIA L40S, 46068 MiB, Disabled, 560.10\n");
  EXPECT_EQ(document.format, "nvidia-smi-query");
  EXPECT_EQ(value(document, "GPU3.memory.total"), "46068");
  EXPECT_EQ(document.reading.values[2].unit, "MiB");
  EXPECT_EQ(value(document, "GPU3.name"), "NVIDIA L40S");
  EXPECT_EQ(topology_of(document).driver_version, "560.10");
  EXPECT_EQ(topology_of(document).gpus[0].mig, false);
  EXPECT_TRUE(read("0, NVIDIA L40S, 46068 MiB\n", "nvidia-smi-query").error);
  EXPECT_NE(read("index,name,value\n1,a,2\n").format, "nvidia-smi-query");
}

TEST(NvidiaList, CountsSlices) {
  const ReadDocument document = read(
      "GPU 0: NVIDIA A100-SXM4-40GB (UUID: GPU-0000)\n  MIG 3g.20gb     Device  0: (UUID: MIG-0001)\n  MIG 3g.20gb     Device  1: (UUID: MIG-0002)\n"
      "GPU 1: NVIDIA A100-SXM4-40GB (UUID: GPU-0003)\n");
  EXPECT_EQ(document.format, "nvidia-smi-list");
  EXPECT_EQ(value(document, "GPU0.mig_slices"), "2");
  EXPECT_EQ(value(document, "GPU1.uuid"), "GPU-0003");
  EXPECT_EQ(complaints({document}), (Complaints{"gpu-mig-mode GPU0 warning"}));
}

TEST(Rocm, ReadsAmdSmiTables) {
  const ReadDocument document = read(
      "WEIGHT TABLE:\n             0000:0c:00.0 0000:22:00.0\n0000:0c:00.0 0            15\n0000:22:00.0 15           0\n"
      "LINK TYPE TABLE:\n             0000:0c:00.0 0000:22:00.0\n0000:0c:00.0 SELF         XGMI\n0000:22:00.0 XGMI         SELF\n");
  EXPECT_EQ(document.format, "rocm-smi-topo");
  EXPECT_EQ(value(document, "GPU0.gpu[GPU1]"), "XGMI");
  EXPECT_EQ(value(document, "GPU1.bus_id"), "0000:22:00.0");
  EXPECT_EQ(complaints({document}), Complaints{});
}

TEST(Rocm, SaysWhatIsCut) {
  const ReadDocument document = read(
      "=== Link Type between two GPUs ===\n       GPU0         GPU1         GPU2\nGPU0   0            XGMI         XGMI\nGPU1   XGMI         0\n");
  EXPECT_EQ(value(document, "GPU0.gpu[GPU2]"), "XGMI");
  EXPECT_EQ(value(document, "GPU1.gpu[GPU2]"), "unknown");
  EXPECT_EQ(complaints({document}), (Complaints{"document-incomplete relations unknown", "document-incomplete tables unknown", "document-lines-unread text warning"}));
}

}  // namespace
}  // namespace verl::diagnosis
