#include "tests/unit/diagnosis/time/read_time.h"

namespace verl::diagnosis {
namespace {

TEST(TimeJournal, KeepsHostsApart) {
  const auto document = read_time("-- Journal begins at Mon 2026-03-02 --\n"
                                  "Mar 07 08:00:01 alpha chronyd[90]: chronyd version 4.5 starting (+CMDMON)\n"
                                  "Mar 07 08:00:02 alpha chronyd[90]: System clock wrong by -2.500000 seconds\n"
                                  "2026-03-07T08:00:03.123456+00:00 beta chronyd[91]: Can't synchronise: no selectable sources\n"
                                  "2026-03-07T08:00:09.123456+00:00 beta chronyd[91]: Selected source 203.0.113.9\n"
                                  "Mar 07 08:00:04 gamma chronyd[92]: Can't synchronise: no majority\n");
  EXPECT_EQ(document.format, "chronyd-journal");
  EXPECT_TRUE(document.reading.unread.empty());
  const auto found = diagnose({document}, {}).findings;
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].id, "clock-error");
  EXPECT_EQ(found[0].nodes, std::vector<std::string>{"alpha"});
  EXPECT_EQ(found[0].seen, "-2.500000 s");
  EXPECT_EQ(found[1].id, "clock-sync");
  EXPECT_EQ(found[1].nodes, std::vector<std::string>{"gamma"});
}

TEST(TimeJournal, AStepEndsWhatWasWrong) {
  const auto document = read_time("Mar 07 08:00:02 alpha chronyd[90]: System clock wrong by 2.500000 seconds\n"
                                  "Mar 07 08:00:02 alpha chronyd[90]: System clock was stepped by 2.500000 seconds\n"
                                  "Mar 07 08:00:02 alpha chronyd[90]: System clock TAI offset set to 37 seconds\n");
  EXPECT_EQ(ids({document}), Ids{"clock-stepped warning"});
}

TEST(TimeJournal, SmallErrorsAreNoFindings) {
  EXPECT_EQ(ids({read_time("Mar 07 08:00:02 alpha chronyd[90]: System clock wrong by 0.002000 seconds, adjustment started\n")}), Ids{});
}

TEST(TimeJournal, ReadsTheOtherDaemonsToo) {
  EXPECT_EQ(ids({read_time("Mar 07 08:00:02 alpha ntpd[90]: time reset +1.250000 s\nMar 07 08:10:02 alpha ntpd[90]: no servers reachable\n")}), (Ids{"clock-sync error", "clock-stepped warning"}));
  EXPECT_EQ(ids({read_time("Mar 07 08:00:02 alpha systemd-timesyncd[90]: Timed out waiting for reply from 203.0.113.9:123 (tick.example).\n")}), Ids{"clock-sync error"});
  EXPECT_EQ(ids({read_time("Mar 07 08:00:02 alpha chronyd[90]: Detected falseticker 203.0.113.9 (tick.example)\nMar 07 08:00:03 alpha chronyd[90]: Forward time jump detected!\n")}),
            (Ids{"clock-falseticker warning", "clock-stepped warning"}));
}

TEST(TimeJournal, StandsBesideAGoodSample) {
  const auto sample = read_time("CB007105,203.0.113.5,3,1772871072.5,0.000004,-0.000001,0.00001,-3.2,-0.001,0.044,0.001,0.0002,64.3,Normal\n", "alpha");
  const auto journal = read_time("Mar 07 08:00:02 alpha chronyd[90]: Can't synchronise: no majority\n");
  EXPECT_EQ(ids({sample, journal}), Ids{"clock-sync error"});
}

TEST(TimeJournal, NamesLinesOfOthers) {
  const auto document = read_time("Mar 07 08:00:02 alpha chronyd[90]: Selected source 203.0.113.9\nMar 07 08:00:02 alpha kernel: usb 1-1: new device\n");
  ASSERT_EQ(document.reading.unread.size(), 1u);
}

}  // namespace
}  // namespace verl::diagnosis
