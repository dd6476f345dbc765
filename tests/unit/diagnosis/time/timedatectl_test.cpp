#include "tests/unit/diagnosis/time/read_time.h"

namespace verl::diagnosis {
namespace {

std::string status(std::string_view synchronised, std::string_view service, std::string_view rtc = "no") {
  std::string text = "               Local time: Sat 2026-03-07 08:00:00 UTC\n           Universal time: Sat 2026-03-07 08:00:00 UTC\n                 RTC time: Sat 2026-03-07 08:00:00\n                Time zone: Etc/UTC (UTC, +0000)\n";
  if (!synchronised.empty()) text += "System clock synchronized: " + std::string(synchronised) + "\n";
  return text + "              NTP service: " + std::string(service) + "\n          RTC in local TZ: " + std::string(rtc) + "\n";
}

TEST(Timedatectl, AnActiveServiceProvesNothing) {
  EXPECT_EQ(ids({read_time(status("yes", "active"))}), Ids{});
  EXPECT_EQ(ids({read_time(status("no", "active"))}), Ids{"clock-sync error"});
  EXPECT_EQ(ids({read_time(status("no", "inactive"))}), Ids{"clock-sync error"});
  EXPECT_EQ(ids({read_time(status("", "active"))}), (Ids{"clock-sync unknown", "document-incomplete unknown"}));
  EXPECT_EQ(ids({read_time(status("maybe", "active"))}), (Ids{"clock-sync unknown", "document-incomplete unknown"}));
}

TEST(Timedatectl, WarnsOfAHardwareClockInLocalTime) { EXPECT_EQ(ids({read_time(status("yes", "active", "yes"))}), Ids{"clock-rtc-local warning"}); }

TEST(Timedatectl, ReadsWhatShowPrints) {
  EXPECT_EQ(ids({read_time("Timezone=Etc/UTC\nLocalRTC=no\nCanNTP=yes\nNTP=yes\nNTPSynchronized=yes\nTimeUSec=Sat 2026-03-07 08:00:00 UTC\nRTCTimeUSec=Sat 2026-03-07 08:00:00 UTC\n")}), Ids{});
  EXPECT_EQ(ids({read_time("Timezone=Etc/UTC\nLocalRTC=no\nCanNTP=yes\nNTP=yes\nNTPSynchronized=no\n")}), Ids{"clock-sync error"});
}

TEST(Timedatectl, AFlagDoesNotOverruleADaemon) {
  const auto daemon = read_time("CB007105,203.0.113.5,3,1772871072.5,0.000004,-0.000001,0.00001,-3.2,-0.001,0.044,0.001,0.0002,64.3,Normal\n", "alpha");
  const auto flag = read_time(status("no", "active"), "alpha");
  EXPECT_EQ(ids({daemon, flag}), Ids{"clock-rtcsync info"});
}

constexpr std::string_view kTimesync =
    "       Server: 203.0.113.7 (tick.example)\nPoll interval: 34min 8s (min: 32s; max 34min 8s)\n         Leap: normal\n      Version: 4\n      Stratum: 2\n    Reference: CB007109\n"
    "    Precision: 1us (-23)\nRoot distance: 1.250ms (max: 5s)\n       Offset: +812us\n        Delay: 2.500ms\n       Jitter: 100us\n Packet count: 44\n    Frequency: -3.100ppm\n";

TEST(TimesyncStatus, ReadsSpansWithUnits) {
  const auto document = read_time(kTimesync);
  EXPECT_EQ(document.format, "timesync-status");
  EXPECT_TRUE(document.reading.unread.empty());
  EXPECT_DOUBLE_EQ(number_of(document, "offset"), 812e-6);
  EXPECT_DOUBLE_EQ(number_of(document, "poll_interval"), 2048);
  EXPECT_DOUBLE_EQ(clock_of(document).offset_s.value(), -812e-6);
  EXPECT_EQ(ids({document}), Ids{});
}

TEST(TimesyncStatus, HasHeardNothingYet) {
  const auto document = read_time("       Server: n/a (tick.example)\nPoll interval: 0 (min: 32s; max 34min 8s)\n Packet count: 0\n");
  EXPECT_EQ(ids({document}), Ids{"clock-starting error"});
}

TEST(TimesyncStatus, NeverPassesWithoutLeapOrOffset) {
  std::string text(kTimesync);
  text.erase(text.find("       Offset"), text.find("        Delay") - text.find("       Offset"));
  EXPECT_EQ(ids({read_time(text)}), (Ids{"clock-sync unknown", "document-incomplete unknown"}));
}

}  // namespace
}  // namespace verl::diagnosis
