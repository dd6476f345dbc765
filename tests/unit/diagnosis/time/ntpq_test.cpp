#include "tests/unit/diagnosis/time/read_time.h"

namespace verl::diagnosis {
namespace {

constexpr std::string_view kHead =
    "     remote           refid      st t when poll reach   delay   offset  jitter\n"
    "==============================================================================\n";

ReadDocument peers(std::string_view rows) { return read_time(std::string(kHead) + std::string(rows)); }

TEST(Ntpq, TakesTheSystemPeerAndItsMilliseconds) {
  const auto document = peers("+tick.example.co 203.0.113.70     2 u   12   64  377    4.210   -1.250   0.333\n"
                              "*tock.example.co .GNSS.           1 u   3m  17m  377    2.100   12.500   0.250\n"
                              "xliar.example.ne 203.0.113.71     2 u    8   64  377    4.000  900.000   0.900\n");
  EXPECT_EQ(text_of(document, "system_peer"), "tock.example.co");
  EXPECT_DOUBLE_EQ(clock_of(document).offset_s.value(), -0.0125);
  EXPECT_EQ(clock_of(document).stratum, 2);
  EXPECT_EQ(ids({document}), Ids{"clock-falseticker warning"});
}

TEST(Ntpq, PutsThePulseBeforeTheServerThatNumbersIt) {
  const auto document = peers("*NMEA(0)         .GPS.            0 l    9   16  377    0.000  180.000   9.000\n"
                              "oPPS(2)          .PPS.            0 l    7   16  377    0.000   -0.004   0.001\n");
  EXPECT_EQ(text_of(document, "system_peer"), "PPS(2)");
  EXPECT_EQ(ids({document}), Ids{});
}

TEST(Ntpq, ReadsRowsWithBlanksInNamesAndWithoutRefid) {
  const auto document = peers("*203.0.113.9 (st 203.0.113.80     2 u   11   64    7   68.172    4.404   4.878\n"
                              " ACTS(0)                          0 l    -   16    0    0.000    0.000   0.000\n");
  EXPECT_EQ(text_of(document, "peers[0].remote"), "203.0.113.9 (st");
  EXPECT_EQ(text_of(document, "peers[1].remote"), "ACTS(0)");
  EXPECT_EQ(text_of(document, "peers[1].refid"), "");
  EXPECT_TRUE(document.reading.unread.empty());
}

TEST(Ntpq, JoinsLongNamesOfTheWideTable) {
  const auto document = peers("*2001:db8:0:1234:5678:9abc:def0:1\n"
                              "                 203.0.113.80     2 u   11   64  377   68.172    4.404   4.878\n");
  EXPECT_EQ(text_of(document, "system_peer"), "2001:db8:0:1234:5678:9abc:def0:1");
  EXPECT_EQ(ids({document}), Ids{});
}

TEST(Ntpq, KnowsTheOwnClockAndServersOnTheirOwnClock) {
  EXPECT_EQ(ids({peers("*LOCAL(0)        .LOCL.          10 l   33   64  377    0.000    0.000   0.001\n")}), Ids{"clock-local-only warning"});
  EXPECT_EQ(ids({peers("*site.example    .LOCL.           6 u   33   64  377    0.300    0.020   0.001\n")}), Ids{"clock-local-reference warning"});
  EXPECT_EQ(ids({peers("*site.example    203.0.113.80     3 u   33   64  377    0.300    0.020   0.001\n")}), Ids{});
}

TEST(Ntpq, IsNotReadyWithoutASystemPeer) {
  EXPECT_EQ(ids({peers(" tick.example.co 203.0.113.70     2 u    2   64    3    4.210   -1.250   0.333\n")}), Ids{"clock-starting error"});
  EXPECT_EQ(ids({peers(" tick.example.co 203.0.113.70     2 u    2   64  377    4.210   -1.250   0.333\n")}), Ids{"clock-sync error"});
  EXPECT_EQ(ids({peers(" tick.example.co .INIT.          16 u    -   64    0    0.000    0.000   0.000\n")}), Ids{"clock-sync error"});
  EXPECT_EQ(ids({peers("*tick.example.co 203.0.113.70     2 u  99m   64    0    4.210   -1.250   0.333\n")}), Ids{"clock-sync error"});
  EXPECT_EQ(ids({read_time("No association ID's returned\n")}), Ids{"clock-sync error"});
  EXPECT_EQ(ids({read_time("ntpq: read: Connection refused\n")}), Ids{"clock-sync unknown"});
}

TEST(Ntpq, DoesNotGuessATallyThatWasCutOff) {
  // The blanks at the left are gone: "o" may be the tally or the first letter of the name.
  const auto document = read_time("remote           refid      st t when poll reach   delay   offset  jitter\n=====\n"
                                  "ocean.example   203.0.113.70     2 u    2   64  377    4.210   -1.250   0.333\n");
  EXPECT_EQ(ids({document}), (Ids{"clock-sync unknown", "document-incomplete unknown"}));
}

TEST(Ntpq, AllowsForAnIndentedPaste) {
  const auto document = read_time("         remote           refid      st t when poll reach   delay   offset  jitter\n    =====\n"
                                  "    *tick.example.co 203.0.113.70     2 u    2   64  377    4.210   -1.250   0.333\n");
  EXPECT_EQ(text_of(document, "system_peer"), "tick.example.co");
}

TEST(Ntpq, ReadsSystemVariables) {
  const auto document = read_time("associd=0 status=0615 leap_none, sync_ntp, 1 event, clock_sync,\nversion=\"ntpd 4.2.8p15\", processor=\"x86_64\",\n"
                                  "system=\"Linux\", leap=00, stratum=3, precision=-23, rootdelay=4.000, rootdisp=20.000, refid=203.0.113.70,\noffset=1.500, sys_jitter=0.2\n");
  EXPECT_EQ(document.format, "ntpq");
  EXPECT_DOUBLE_EQ(clock_of(document).offset_s.value(), -0.0015);
  EXPECT_NEAR(clock_of(document).error_bound_s.value(), 0.0235, 1e-12);
  EXPECT_EQ(ids({document}), Ids{});
  EXPECT_EQ(ids({read_time("associd=0 status=c016 leap_alarm, sync_unspec, 1 event, restart,\nleap=11, stratum=16, refid=INIT, offset=0.000\n")}), Ids{"clock-sync error"});
}

TEST(Ntpq, SaysThatNtpdGivesUpOnLargeOffsets) {
  const auto document = peers(" tick.example.co 203.0.113.70     2 u    2   64    3    4.210  2400000   0.333\n");
  const auto found = diagnose({document}, {});
  EXPECT_EQ(ids({document}), (Ids{"clock-error error", "clock-sync error"}));
  EXPECT_NE(found.findings[0].message.find("gives up beyond 1000 s"), std::string::npos);
}

}  // namespace
}  // namespace verl::diagnosis
