#include "tests/unit/diagnosis/time/read_time.h"

namespace verl::diagnosis {
namespace {

TEST(Ptp, TheLastServoStateCounts) {
  const auto locked = read_time("phc2sys[77.001]: CLOCK_REALTIME phc offset  912345 s0 freq   +100 delay   900\nphc2sys[78.001]: CLOCK_REALTIME phc offset     -41 s2 freq   -812 delay   880\n");
  EXPECT_EQ(locked.format, "ptp-log");
  EXPECT_DOUBLE_EQ(clock_of(locked).offset_s.value(), -41e-9);
  EXPECT_EQ(ids({locked}), Ids{});
  EXPECT_EQ(ids({read_time("phc2sys[77.001]: CLOCK_REALTIME phc offset  912345 s0 freq   +100 delay   900\n")}), Ids{"clock-starting error"});
  EXPECT_EQ(ids({read_time("phc2sys[77.001]: Waiting for ptp4l...\n")}), Ids{"clock-starting error"});
}

TEST(Ptp, TheCardsClockIsNotTheSystems) {
  const std::string card = "Mar 07 08:00:01 alpha ptp4l: [352.361] port 1: UNCALIBRATED to SLAVE on MASTER_CLOCK_SELECTED\nMar 07 08:00:02 alpha ptp4l: [353.361] master offset        -12 s2 freq   -5000 path delay       531\n";
  EXPECT_EQ(ids({read_time(card)}), Ids{"clock-ptp-system warning"});
  EXPECT_EQ(ids({read_time(card + "Mar 07 08:00:02 alpha phc2sys: [353.461] CLOCK_REALTIME phc offset       -41 s2 freq    -812 delay    880\n")}), Ids{});
  EXPECT_EQ(ids({read_time(card + "Mar 07 08:00:03 alpha ptp4l: [354.361] port 1: SLAVE to FAULTY on FAULT_DETECTED (FT_UNSPECIFIED)\n")}), Ids{"clock-sync error"});
}

TEST(Ptp, NamesTaiTakenForUtc) {
  const auto document = read_time("phc2sys[78.001]: CLOCK_REALTIME phc offset -37000000041 s2 freq   -812 delay   880\n");
  EXPECT_EQ(ids({document}), Ids{"clock-error error"});
  EXPECT_NE(diagnose({document}, {}).findings[0].message.find("TAI"), std::string::npos);
}

TEST(Ptp, ReadsManagementResponses) {
  const auto document = read_time("sending: GET TIME_STATUS_NP\n\t001122.fffe.334455-0 seq 0 RESPONSE MANAGEMENT TIME_STATUS_NP\n\t\tmaster_offset              -7\n\t\tingress_time               1772871072512345678\n\t\tgmPresent                  true\n\t\tgmIdentity                 00aabb.fffe.ccddee\n");
  EXPECT_EQ(document.format, "pmc");
  EXPECT_TRUE(document.reading.unread.empty());
  EXPECT_EQ(ids({document}), Ids{"clock-ptp-system warning"});
  EXPECT_EQ(text_of(document, "TIME_STATUS_NP[0].master_offset"), "-7");
}

}  // namespace
}  // namespace verl::diagnosis
