// perftest in the layouts of its versions.
#include "tests/unit/diagnosis/benchmark/read.h"

namespace verl::benchmark {
namespace {

std::string run(const std::string& title, const std::string& table, const std::string& addresses = {}) {
  return "---------------------------------------------------------------------------------------\n                    " + title +
         "\n Dual-port       : OFF\t\tDevice         : hfi7_2\n Number of qps   : 4\t\tTransport type : IB\n Mtu             : 4096[B]\n Link type       : Ethernet\n"
         " Max inline data : 0[B]\n rdma_cm QPs\t : OFF\n"
         "---------------------------------------------------------------------------------------\n" +
         addresses + table + "---------------------------------------------------------------------------------------\n";
}

constexpr const char* kTwoHosts =
    " local address: LID 0000 QPN 0x0116 PSN 0x1\n GID: 00:00:00:00:00:00:00:00:00:00:255:255:192:00:02:07\n"
    " remote address: LID 0000 QPN 0x0117 PSN 0x2\n GID: 00:00:00:00:00:00:00:00:00:00:255:255:192:00:02:08\n";

TEST(Perftest, UnitsAreThoseOfTheHeader) {
  const struct {
    const char* header;
    double gbits;
    const char* unit;
  } rows[] = {{" #bytes     #iterations    BW peak[MiB/sec]    BW average[MiB/sec]   MsgRate[Mpps]\n", 8.388608, "MiB/s"},
              {" #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n", 8.388608, "MiB/s"},
              {" #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n", 1000, "Gb/s"}};
  for (const auto& row : rows) {
    const auto document = read(run("RDMA_Write BW Test", std::string(row.header) + " 65536      5000             1001.00            1000.00\t\t   0.008\n", kTwoHosts));
    EXPECT_EQ(document.format, "perftest");
    const auto measured = facts_of(document).measurements;
    ASSERT_EQ(measured.size(), 1U);
    EXPECT_EQ(measured[0].test, "ib_write_bw");
    EXPECT_DOUBLE_EQ(*measured[0].gbits_per_s, row.gbits);
    EXPECT_EQ(measured[0].queue_pairs, 4);
    EXPECT_EQ(measured[0].mtu, 4096);
    EXPECT_EQ(measured[0].bidirectional, false);
    EXPECT_TRUE(measured[0].network);
    EXPECT_EQ(unit_of(document, "rows[0].bw_average"), row.unit);
    EXPECT_TRUE(document.reading.unread.empty());
  }
}

TEST(Perftest, Latency) {
  const auto document = read(run("RDMA_Read Latency Test",
                                 " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec] \n"
                                 "Conflicting CPU frequency values detected: 1500.000000 != 3100.000000. CPU Frequency is not max.\n"
                                 " 2       1000          1.10           2.05         1.11     \t       1.12        \t0.00   \t\t1.19    \t\t2.05   \n"));
  ASSERT_EQ(facts_of(document).measurements.size(), 1U);
  EXPECT_EQ(facts_of(document).measurements[0].test, "ib_read_lat");
  EXPECT_EQ(facts_of(document).measurements[0].latency_us, 1.12);
  EXPECT_EQ(std::get<double>(value_of(document, "rows[0].latency_p99")), 1.19);
  EXPECT_EQ(unit_of(document, "rows[0].latency_p99_9"), "us");
  EXPECT_TRUE(document.reading.unread.empty());
}

TEST(Perftest, LatencyOverADuration) {
  const auto document = read(run("Send Latency Test", " #bytes        #iterations       t_avg[usec]    tps average\n 2             901112            5.54           180222.4\n"));
  EXPECT_EQ(facts_of(document).measurements.at(0).latency_us, 5.54);
  EXPECT_EQ(std::get<double>(value_of(document, "rows[0].transactions_per_second")), 180222.4);
}

constexpr const char* kHeader = " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n";

TEST(Perftest, TwoRunsInOneText) {
  const std::string one = run("Send Bidirectional BW Test", std::string(kHeader) + " 4096       1000             0.00               180.00             5.4\n");
  const std::string two = run("RDMA_Write BW Test", std::string(kHeader) + " 4096       1000             0.00               90.00             2.7\n");
  const auto document = read(one + two);
  const auto measured = facts_of(document).measurements;
  ASSERT_EQ(measured.size(), 2U);
  EXPECT_EQ(measured[0].bidirectional, true);
  EXPECT_EQ(measured[0].test, "ib_send_bw");
  EXPECT_EQ(measured[1].bidirectional, false);
  EXPECT_EQ(std::get<std::string>(value_of(document, "runs[1].test")), "ib_write_bw");
}

TEST(Perftest, LoopbackIsOneAddressAtBothEnds) {
  const std::string row = std::string(kHeader) + " 4096       1000             0.00               180.00             5.4\n";
  const struct {
    const char* addresses;
    bool network;
  } cases[] = {{kTwoHosts, true},
               {" local address: LID 0x13 QPN 0x1 PSN 0x1\n remote address: LID 0x18 QPN 0x2 PSN 0x2\n", true},
               {" local address: LID 0x13 QPN 0x1 PSN 0x1\n remote address: LID 0x13 QPN 0x2 PSN 0x2\n", false},
               // client and server of two hosts in one text: each is local and remote once
               {" local address: LID 0x13 QPN 0x1 PSN 0x1\n local address: LID 0x18 QPN 0x2 PSN 0x2\n remote address: LID 0x18 QPN 0x2 PSN 0x2\n"
                " remote address: LID 0x13 QPN 0x1 PSN 0x1\n",
                true},
               {" local address: LID 0000 QPN 0x1 PSN 0x1\n GID: 254:128:00:01\n remote address: LID 0000 QPN 0x2 PSN 0x2\n GID: 254:128:00:01\n", false},
               {"", true}};
  for (const auto& one : cases) {
    const auto document = read(run("RDMA_Write BW Test", row, one.addresses));
    EXPECT_EQ(facts_of(document).measurements.at(0).network, one.network) << one.addresses;
  }
}

TEST(Perftest, WhatDidNotRunIsAnError) {
  for (const char* text : {" Couldn't connect to 192.0.2.7:18515\nUnable to open file descriptor for socket connection\n", " Port number 1 state is Down\n Couldn't set the link layer\n",
                           " Failed to modify QP 278 to RTR\n Unable to Connect the HCA's through the link\n"}) {
    const auto document = read(run("RDMA_Write BW Test", text));
    ASSERT_FALSE(document.reading.findings.empty()) << text;
    EXPECT_EQ(document.reading.findings[0].id, "benchmark-failed");
  }
  const auto nothing = read(run("RDMA_Write BW Test", std::string(kHeader) + " 65536      0             0.00               0.00             0.0\n"));
  ASSERT_EQ(nothing.reading.findings.size(), 1U);
  EXPECT_EQ(nothing.reading.findings[0].id, "benchmark-failed");
  EXPECT_TRUE(facts_of(nothing).measurements.empty());
  const auto cut = read(run("RDMA_Write BW Test", kHeader));
  ASSERT_EQ(cut.reading.findings.size(), 1U);
  EXPECT_EQ(cut.reading.findings[0].id, "document-incomplete");
}

TEST(Perftest, JsonTellsItsUnitByTheRateOfMessages) {
  const auto document = read(R"({"test_info": {"test": "RDMA_Write BW Test", "Dual_port": "OFF", "Device": "hfi7_2", "Number_of_qps": "1", "Mtu": "4096[B]", "Link_type": "IB"},
    "results": {"MsgSize": 131072, "n_iterations": 5000, "BW_peak": 391.8, "BW_average": 391.72, "MsgRate": 0.373573}})");
  EXPECT_EQ(document.format, "perftest-json");
  const auto measured = facts_of(document).measurements;
  ASSERT_EQ(measured.size(), 1U);
  EXPECT_EQ(measured[0].gbits_per_s, 391.72);
  EXPECT_EQ(measured[0].queue_pairs, 1);
  EXPECT_EQ(unit_of(document, "rows[0].bw_average"), "Gb/s");
  const auto untold = read(R"({"test_info": {"test": "RDMA_Write BW"}, "results": {"MsgSize": 131072, "BW_average": 391.72}})");
  EXPECT_FALSE(facts_of(untold).measurements.at(0).gbits_per_s);
  EXPECT_EQ(untold.reading.findings.at(0).id, "document-incomplete");
}

}  // namespace
}  // namespace verl::benchmark
