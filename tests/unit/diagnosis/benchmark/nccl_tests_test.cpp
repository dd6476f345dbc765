// nccl-tests in the layouts of its versions.
#include "tests/unit/diagnosis/benchmark/read.h"

namespace verl::benchmark {
namespace {

constexpr const char* kNew =
    "# nccl-tests version 2.17.1 nccl-headers=22703 nccl-library=22703\n# Collective test starting: all_gather_perf\n"
    "# nThread 1 nGpus 1 minBytes 8 maxBytes 128 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0\n#\n# Using devices\n"
    "#  Rank  0 Group  0 Pid   4711 on    trainer-a device  0 [0000:1b:00] NVIDIA H100 80GB HBM3\n"
    "#  Rank  1 Group  0 Pid   4712 on    trainer-b device  0 [0000:1b:00] NVIDIA H100 80GB HBM3\n#\n"
    "#                                                              out-of-place                       in-place          \n"
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)       \n";
constexpr const char* kRow = "  1073741824      16777216     float    none      -1   5310.0  202.21  101.11      0   5300.0  202.59  101.30      0\n";
constexpr const char* kFooter = "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 101.2 \n#\n# Collective test concluded: all_gather_perf\n";

TEST(NcclTests, NewTableOverTwoHosts) {
  const auto document = read(std::string(kNew) + kRow + kFooter);
  EXPECT_EQ(document.format, "nccl-tests");
  const auto measured = facts_of(document).measurements;
  ASSERT_EQ(measured.size(), 1U);
  EXPECT_EQ(measured[0].test, "all_gather_perf");
  EXPECT_EQ(measured[0].bus_gbytes_per_s, 101.30);
  EXPECT_TRUE(measured[0].network);
  EXPECT_EQ(std::get<std::string>(value_of(document, "correctness")), "right");
  EXPECT_EQ(std::get<std::string>(value_of(document, "rows[0].root")), "-1");
  EXPECT_EQ(std::get<std::string>(value_of(document, "nccl_library")), "22703");
  EXPECT_TRUE(document.reading.findings.empty());
  EXPECT_TRUE(document.reading.unread.empty());
}

TEST(NcclTests, WrongValuesAreAnError) {
  std::string row(kRow);
  row.replace(row.find("101.11      0"), 13, "101.11     17");
  const auto document = read(std::string(kNew) + row + kFooter);
  ASSERT_EQ(document.reading.findings.size(), 1U);
  EXPECT_EQ(document.reading.findings[0].id, "benchmark-correctness");
  EXPECT_EQ(document.reading.findings[0].severity, diagnosis::Severity::Error);
}

TEST(NcclTests, PrefixesLinesInBetweenAndLargeNumbers) {
  const auto document = read(std::string(kNew) + "[1,0]<stdout>:  1.2e+09      16777216     float    none      -1   5310.0  202.21  101.11    N/A   5300.0  202.59  101.30    N/A\n"
                             "trainer-a:4711:4720 [0] NCCL INFO comm 0x1 rank 0 nranks 2\n\n" + kFooter);
  ASSERT_EQ(facts_of(document).measurements.size(), 1U);
  EXPECT_EQ(facts_of(document).measurements[0].size, 1'200'000'000);
  EXPECT_EQ(document.reading.findings.at(0).id, "benchmark-correctness-unknown");
  EXPECT_EQ(document.reading.skipped.size(), 1U);
}

TEST(NcclTests, OneHalfAndTornRows) {
  const auto document = read(std::string(kNew) + "  1073741824      16777216     float    none      -1   5310.0  202.21  101.11      0\n"
                             "  1073741824      16777216     float    none      -1   5310.0  20\n" + kFooter);
  ASSERT_EQ(facts_of(document).measurements.size(), 1U);
  EXPECT_EQ(facts_of(document).measurements[0].bus_gbytes_per_s, 101.11);
  ASSERT_EQ(document.reading.findings.size(), 1U);
  EXPECT_EQ(document.reading.findings[0].id, "document-incomplete");
}

TEST(NcclTests, JitterColumnsAndOldNames) {
  const auto document = read(
      "#       size         count    type    time   algbw   busbw  error     time   algbw   busbw  error\n"
      "     1048576        262144   float    74.78   14.02   24.54  1e-07    76.17   13.77   24.09  1e-07\n");
  const auto measured = facts_of(document).measurements;
  ASSERT_EQ(measured.size(), 1U);
  EXPECT_EQ(measured[0].bus_gbytes_per_s, 24.54);
}

TEST(NcclTests, AFailureIsSaid) {
  const auto document = read(std::string(kNew) + "trainer-a: Test NCCL failure common.cu:958 'unhandled system error / '\n");
  ASSERT_EQ(document.reading.findings.size(), 2U);
  EXPECT_EQ(document.reading.findings[0].id, "benchmark-failed");
}

TEST(NcclTests, JsonDropsTheEnvironment) {
  const auto document = read(R"({"version": 1, "start_time": "x", "args": ["./build/all_reduce_perf", "-b", "8"], "env": ["TOKEN=geheim"], "nccl_version": 22703,
    "config": {"devices": [{"rank": 0, "hostname": "trainer-a"}, {"rank": 1, "hostname": "trainer-a"}]},
    "results": [{"size": 0, "out_of_place": {"time": 9.0, "alg_bw": 0, "bus_bw": 0, "nwrong": 0}},
                {"size": 1048576, "out_of_place": {"time": 90.5, "alg_bw": 11.5, "bus_bw": 20.25, "nwrong": 0}, "in_place": {"time": 91, "alg_bw": 11, "bus_bw": "nan", "nwrong": "N/A"}}],
    "average_bus_bandwidth": {"bandwidth": 10.1, "okay": "unchecked"}})");
  EXPECT_EQ(document.format, "nccl-tests-json");
  const auto measured = facts_of(document).measurements;
  ASSERT_EQ(measured.size(), 1U);
  EXPECT_EQ(measured[0].bus_gbytes_per_s, 20.25);
  EXPECT_EQ(measured[0].test, "all_reduce_perf");
  EXPECT_FALSE(measured[0].network);
  EXPECT_EQ(document.reading.skipped.size(), 1U);
  for (const auto& value : document.reading.values) {
    const auto* text = std::get_if<std::string>(&value.value);
    EXPECT_TRUE(!text || text->find("geheim") == std::string::npos);
  }
}

}  // namespace
}  // namespace verl::benchmark
