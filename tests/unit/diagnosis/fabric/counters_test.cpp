// Counters: two looks, saturation, resets.
#include "tests/unit/diagnosis/fabric/read.h"

namespace verl::fabric {
namespace {

using diagnosis::Finding;
using diagnosis::Severity;

std::vector<Finding> judged(std::vector<diagnosis::ReadDocument> documents) { return diagnosis::diagnose(documents, {}).findings; }

std::string statistics(const std::string& rows) { return "NIC statistics:\n     rx_bytes: 10\n     tx_bytes: 10\n     rx_packets: 4\n" + rows; }

std::vector<Finding> of_two(const std::string& before, const std::string& after) { return judged({read(statistics(before), "a"), read(statistics(after), "b")}); }

TEST(Counters, OnlyDifferencesAreJudged) {
  const struct {
    const char* before;
    const char* after;
    const char* id;
    Severity severity;
  } rows[] = {{"     rx_discards_phy: 5\n", "     rx_discards_phy: 9\n", "packet-drops", Severity::Warning},
              {"     rx_prio3_discards: 5\n", "     rx_prio3_discards: 9\n", "packet-drops", Severity::Warning},
              {"     link_down_events_phy: 1\n", "     link_down_events_phy: 2\n", "rdma-port-flap", Severity::Error},
              {"     rx_crc_errors_phy: 0\n", "     rx_crc_errors_phy: 2\n", "rdma-error-counters", Severity::Error},
              {"     local_ack_timeout_err: 0\n", "     local_ack_timeout_err: 2\n", "rdma-error-counters", Severity::Warning},
              {"     rx_oversize_pkts_phy: 0\n", "     rx_oversize_pkts_phy: 2\n", "mtu-peer", Severity::Warning},
              {"     rx_prio3_pause: 0\n     rx_global_pause: 1\n", "     rx_prio3_pause: 2\n     rx_global_pause: 2\n", "pause-priority", Severity::Info},
              {"     rx_global_pause: 0\n", "     rx_global_pause: 2\n", "pause-global", Severity::Info}};
  for (const auto& row : rows) {
    const auto moved = of_two(row.before, row.after);
    ASSERT_EQ(moved.size(), 1U) << row.after;
    EXPECT_EQ(moved[0].id, row.id);
    EXPECT_EQ(moved[0].severity, row.severity);
    EXPECT_TRUE(of_two(row.after, row.after).empty()) << "nothing moved: " << row.after;
  }
}

TEST(Counters, GoingBackwardsIsNoDifference) {
  const auto reset = of_two("     rx_discards_phy: 900\n", "     rx_discards_phy: 3\n");
  ASSERT_EQ(reset.size(), 1U);
  EXPECT_EQ(reset[0].id, "counter-backwards");
}

TEST(Counters, OfTwoInterfacesAreNotCompared) {
  const auto both = judged({read(statistics("     rx_discards_phy: 5\n"), "node/ethtool-S-ens5.txt"), read(statistics("     rx_discards_phy: 9\n"), "node/ethtool-S-ens6.txt")});
  EXPECT_TRUE(both.empty());
  const auto same = judged({read(statistics("     rx_discards_phy: 5\n"), "node/t0-ens5.txt"), read(statistics("     rx_discards_phy: 9\n"), "node/t1-ens5.txt")});
  ASSERT_EQ(same.size(), 1U);
  EXPECT_EQ(same[0].subject, "ens5");
}

TEST(Counters, TwoLooksInOneText) {
  const auto document = read(statistics("     rx_discards_phy: 5\n") + "Tue Dec  1 10:00:00 UTC\n" + statistics("     rx_discards_phy: 7\n"));
  EXPECT_EQ(facts_of(document).snapshots.size(), 2U);
  EXPECT_EQ(facts_of(document).snapshots[1].moment, "Tue Dec  1 10:00:00 UTC");
  const auto found = judged({document});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].seen, "rx_discards_phy +2");
}

TEST(Counters, NamesOfOtherDriversParse) {
  const auto document = read("NIC statistics:\n     [0]: rx_ucast_packets: 7\n     queue_0_tx_cnt: 8\n     port.rx_dropped: 18446744073709551615\n");
  EXPECT_EQ(std::get<std::uint64_t>(value_of(document, "counter.[0]: rx_ucast_packets")), 7U);
  EXPECT_EQ(std::get<std::uint64_t>(value_of(document, "counter.port.rx_dropped")), UINT64_MAX);
  EXPECT_TRUE(document.reading.unread.empty());
}

TEST(Counters, SaturatedOnesCannotMove) {
  const std::string path = "/sys/class/infiniband/hfi7_0/ports/1/";
  const std::string port = path + "state:4: ACTIVE\n" + path + "rate:400 Gb/sec (4X NDR)\n" + path + "link_layer:InfiniBand\n" + path + "counters/";
  const struct {
    const char* row;
    bool saturated;
  } rows[] = {{"link_downed:255\n", true},       {"link_downed:254\n", false},  {"symbol_error:65535\n", true}, {"symbol_error:65536\n", false},
              {"local_link_integrity_errors:15\n", true}, {"port_rcv_errors:15\n", false}};
  for (const auto& row : rows) {
    const auto found = judged({read(port + row.row)});
    EXPECT_EQ(found.size(), row.saturated ? 1U : 0U) << row.row;
    if (row.saturated) {
      EXPECT_EQ(found[0].id, "rdma-counter-saturated");
      EXPECT_EQ(found[0].severity, Severity::Warning);
      EXPECT_EQ(found[0].evidence.at(0).line, 4);
    }
  }
}

}  // namespace
}  // namespace verl::fabric
