#include "tests/unit/diagnosis/time/read_time.h"

namespace verl::diagnosis {
namespace {

std::string adjtimex(int status, int maximum, int offset = 0) {
  return "         mode: 0\n       offset: " + std::to_string(offset) + "\n    frequency: -12345\n     maxerror: " + std::to_string(maximum) + "\n     esterror: 120\n       status: " +
         std::to_string(status) + "\ntime_constant: 7\n    precision: 1\n    tolerance: 32768000\n         tick: 10000\n     raw time:  1772871072s 512345us = 1772871072.512345\n return value = " +
         (status & 64 ? "5" : "0") + "\n";
}

TEST(KernelClock, TheFlagAloneProvesNothing) {
  EXPECT_EQ(ids({read_time(adjtimex(0x2001, 4000))}), Ids{});
  EXPECT_EQ(ids({read_time(adjtimex(64, 4000))}), Ids{"clock-rtcsync info"});
  EXPECT_EQ(ids({read_time(adjtimex(64, 16000000))}), Ids{"clock-sync error"});
  EXPECT_EQ(ids({read_time(adjtimex(1, 15999999))}), Ids{});
}

TEST(KernelClock, JudgesThePendingCorrection) {
  EXPECT_EQ(ids({read_time(adjtimex(1, 4000, 120000))}), Ids{"clock-error warning"});
  const auto nanoseconds = read_time(adjtimex(0x2001, 4000, 120000));
  EXPECT_DOUBLE_EQ(number_of(nanoseconds, "offset"), 120e-6);
  EXPECT_EQ(ids({nanoseconds}), Ids{});
}

TEST(KernelClock, WithoutTheMaximumErrorNothingIsKnown) {
  std::string text = adjtimex(64, 4000);
  text.replace(text.find("maxerror: 4000"), 14, "maxerror: \?\?  ");
  EXPECT_EQ(ids({read_time(text)}), (Ids{"clock-sync unknown", "document-incomplete unknown"}));
}

TEST(KernelClock, WarnsOfALeapSecond) { EXPECT_EQ(ids({read_time(adjtimex(0x11, 4000))}), Ids{"clock-leap-second warning"}); }

TEST(KernelClock, ReadsNtptime) {
  const auto document = read_time("ntp_gettime() returns code 0 (OK)\n  time ed5a1b2c.1a2b3c4d  Sat, Mar  7 2026  8:00:00.102, (.102219123),\n  maximum error 3500 us, estimated error 80 us, TAI offset 37\n"
                                  "ntp_adjtime() returns code 0 (OK)\n  modes 0x0 (),\n  offset -42.500 us, frequency -3.100 ppm, interval 1 s,\n  maximum error 3500 us, estimated error 80 us,\n"
                                  "  status 0x2001 (PLL,NANO),\n  time constant 6, precision 0.001 us, tolerance 500 ppm,\n");
  EXPECT_EQ(document.format, "adjtimex");
  EXPECT_TRUE(document.reading.unread.empty());
  EXPECT_EQ(number_of(document, "maxerror"), 3500);
  EXPECT_EQ(number_of(document, "tai_offset"), 37);
  EXPECT_DOUBLE_EQ(number_of(document, "offset"), -42.5e-6);
  EXPECT_EQ(ids({document}), Ids{});
  EXPECT_EQ(ids({read_time("ntp_gettime() returns code 5 (ERROR)\n  maximum error 16000000 us, estimated error 16000000 us\nntp_adjtime() returns code 5 (ERROR)\n  status 0x40 (UNSYNC),\n")}), Ids{"clock-sync error"});
}

TEST(KernelClock, ContradictsADaemonOnlyByItsMaximumError) {
  const auto daemon = read_time("CB007105,203.0.113.5,3,1772871072.5,0.000004,-0.000001,0.00001,-3.2,-0.001,0.044,0.001,0.0002,64.3,Normal\n", "alpha");
  EXPECT_EQ(ids({daemon, read_time(adjtimex(64, 4000), "alpha")}), Ids{"clock-rtcsync info"});
  EXPECT_EQ(ids({daemon, read_time(adjtimex(64, 16000000), "alpha")}), Ids{"clock-kernel-disagrees warning"});
}

TEST(TimeQuery, MeasuresAndDoesNotSayWhoKeepsTheClock) {
  const auto query = read_time("server 203.0.113.7, stratum 2, offset 0.700000, delay 0.02500\nserver 203.0.113.8, stratum 0, offset 0.000000, delay 0.00000\n 7 Mar 08:00:00 ntpdate[77]: step time server 203.0.113.7 offset 0.700000 sec\n");
  EXPECT_EQ(query.format, "ntp-query");
  EXPECT_TRUE(query.reading.unread.empty());
  EXPECT_DOUBLE_EQ(clock_of(query).offset_s.value(), -0.7);
  EXPECT_EQ(ids({query}), (Ids{"clock-error error", "clock-sync unknown"}));
  EXPECT_EQ(ids({read_time("2026-03-07 08:00:00.123456 (+0000) +0.000700 +/- 0.001200 tick.example 203.0.113.7 s2 no-leap\n")}), Ids{"clock-sync unknown"});
  EXPECT_EQ(ids({read_time(" 7 Mar 08:00:00 ntpdate[77]: no server suitable for synchronization found\n")}), Ids{"clock-sync unknown"});
}

}  // namespace
}  // namespace verl::diagnosis
