#include "tests/unit/diagnosis/time/read_time.h"

namespace verl::diagnosis {
namespace {

std::string tracking(std::string_view reference, std::string_view stratum, std::string_view system, std::string_view leap, std::string_view dispersion = "0.000200000") {
  std::string text = "Reference ID    : ";
  text += reference;
  text += "\nStratum         : ";
  text += stratum;
  text += "\nRef time (UTC)  : Sat Mar 07 08:11:12 2026\n";
  if (!system.empty()) text += "System time     : " + std::string(system) + "\n";
  text += "Last offset     : -0.000001234 seconds\nRMS offset      : 0.000010000 seconds\nFrequency       : 3.250 ppm slow\nResidual freq   : -0.001 ppm\nSkew            : 0.044 ppm\n"
          "Root delay      : 0.001000000 seconds\nRoot dispersion : ";
  text += std::string(dispersion) + " seconds\nUpdate interval : 64.3 seconds\n";
  if (!leap.empty()) text += "Leap status     : " + std::string(leap) + "\n";
  return text;
}

constexpr std::string_view kSources =
    "210 Number of sources = 3\n"
    "MS Name/IP address         Stratum Poll Reach LastRx Last sample               \n"
    "===============================================================================\n"
    "^* clock-one.example             2   6   377    33   -120us[ -131us] +/-   11ms\n"
    "^- 2001:db8::123                 3   7   377   12m  +2048us[+2050us] +/-   40ms\n"
    "#? PPS0                          0   4     0     -     +0ns[   +0ns] +/-    0ns\n";

TEST(Chronyc, ReadsTheSignFromTheWord) {
  const auto ahead = read_time(tracking("CB007105 (clock.example)", "2", "0.000400000 seconds fast of NTP time", "Normal"));
  EXPECT_EQ(ahead.format, "chronyc-tracking");
  EXPECT_DOUBLE_EQ(clock_of(ahead).offset_s.value(), 0.0004);
  EXPECT_NEAR(clock_of(ahead).error_bound_s.value(), 0.0004 + 0.0005 + 0.0002, 1e-12);
  EXPECT_EQ(clock_of(ahead).reference, "203.0.113.5");
  EXPECT_EQ(ids({ahead}), Ids{});
  EXPECT_TRUE(ahead.reading.unread.empty());
  const auto behind = read_time(tracking("CB007105 (clock.example)", "2", "0.000400000 seconds slow of NTP time", "Normal"));
  EXPECT_DOUBLE_EQ(clock_of(behind).offset_s.value(), -0.0004);
}

TEST(Chronyc, KnowsReferenceClocksIPv6ServersAndTheOldLayout) {
  EXPECT_EQ(clock_of(read_time(tracking("50505330 (PPS0)", "1", "0.000000001 seconds fast of NTP time", "Normal"))).reference, "PPS0");
  EXPECT_EQ(clock_of(read_time(tracking("47505300 (GPS)", "1", "0.000000001 seconds fast of NTP time", "Normal"))).reference, "GPS");
  EXPECT_EQ(clock_of(read_time(tracking("A1B2C3D4 (2001:db8::5)", "3", "0.000000001 seconds fast of NTP time", "Normal"))).reference, "2001:db8::5");
  EXPECT_EQ(clock_of(read_time(tracking("203.0.113.9 (clock.example)", "3", "0.000000001 seconds fast of NTP time", "Normal"))).reference, "203.0.113.9");
}

TEST(Chronyc, TakesNoOffsetOfAClockThatIsNotSynchronised) {
  const auto document = read_time(tracking("00000000 ()", "0", "0.000000000 seconds fast of NTP time", "Not synchronised"));
  EXPECT_FALSE(clock_of(document).offset_s);
  EXPECT_EQ(ids({document}), Ids{"clock-sync error"});
}

TEST(Chronyc, JudgesTheBoundAgainstThePolicy) {
  const auto wide = read_time(tracking("CB007105 (clock.example)", "2", "0.000400000 seconds slow of NTP time", "Normal", "0.090000000"));
  EXPECT_EQ(ids({wide}), Ids{"clock-error warning"});
  const auto wider = read_time(tracking("CB007105 (clock.example)", "2", "0.900000000 seconds slow of NTP time", "Normal"));
  EXPECT_EQ(ids({wider}), Ids{"clock-error error"});
  Policy lax;
  lax.clock_warn = Microseconds(2'000'000);
  lax.clock_fail = Microseconds(3'000'000);
  EXPECT_EQ(ids({wider}, lax), Ids{});
}

TEST(Chronyc, NeverPassesWhatIsCutOff) {
  EXPECT_EQ(ids({read_time(tracking("CB007105 (clock.example)", "2", "0.000400000 seconds slow of NTP time", ""))}), (Ids{"clock-sync unknown", "document-incomplete unknown"}));
  EXPECT_EQ(ids({read_time(tracking("CB007105 (clock.example)", "2", "", "Normal"))}), Ids{"document-incomplete unknown"});
  EXPECT_EQ(ids({read_time("506 Cannot talk to daemon\n")}), Ids{"clock-sync unknown"});
}

TEST(Chronyc, ReadsSourcesWithLegendAndNames) {
  const auto document = read_time("\n  .-- Source mode  '^' = server, '=' = peer, '#' = local clock.\n / .- Source state '*' = current best\n| /   'x' = may be in error\n||                     .- xxxx\n" + std::string(kSources));
  EXPECT_EQ(document.format, "chronyc-sources");
  EXPECT_TRUE(document.reading.unread.empty());
  EXPECT_EQ(text_of(document, "sources[0].name"), "clock-one.example");
  EXPECT_DOUBLE_EQ(number_of(document, "sources[0].adjusted_offset"), -120e-6);
  EXPECT_DOUBLE_EQ(number_of(document, "sources[0].error"), 0.011);
  EXPECT_EQ(text_of(document, "sources[1].name"), "2001:db8::123");
  EXPECT_DOUBLE_EQ(number_of(document, "sources[1].last_received"), 720);
  EXPECT_EQ(value_of(document, "sources[2].last_received"), nullptr);
  EXPECT_EQ(ids({document}), Ids{});
}

TEST(Chronyc, CallsSilentSourcesLostWhateverTrackingSays) {
  std::string sources(kSources);
  for (size_t at = sources.find("377"); at != std::string::npos; at = sources.find("377")) sources.replace(at, 3, "  0");
  const auto document = read_time(tracking("CB007105 (clock.example)", "3", "0.000000700 seconds slow of NTP time", "Normal") + "\n" + sources);
  EXPECT_EQ(ids({document}), Ids{"clock-sync error"});
  // The selected source has not been heard for more than eight polls of 64 s.
  std::string stale(kSources);
  stale.replace(stale.find("   33 "), 6, "  15m ");
  EXPECT_EQ(ids({read_time(tracking("CB007105 (clock.example)", "3", "0.000000700 seconds slow of NTP time", "Normal") + stale)}), Ids{"clock-sync error"});
}

TEST(Chronyc, TellsStartingFromNoMajority) {
  constexpr std::string_view kHead = "MS Name/IP address         Stratum Poll Reach LastRx Last sample\n====\n";
  const auto starting = read_time(std::string(kHead) + "^? 203.0.113.1                   2   6     3     1   +812us[ +812us] +/-   20ms\n");
  EXPECT_EQ(ids({starting}), Ids{"clock-starting error"});
  const auto split = read_time(std::string(kHead) + "^x 203.0.113.1                   2   6   377     1   +812us[ +812us] +/-   20ms\n^x 203.0.113.2                   2   6   377     1   -1203ms[ -1203ms] +/-   20ms\n");
  EXPECT_EQ(ids({split}), (Ids{"clock-sync error", "clock-falseticker warning", "clock-falseticker warning"}));
}

TEST(Chronyc, ReadsTheTextWithoutUnitsAndItsOtherSign) {
  const auto document = read_time("CB007105,203.0.113.5,3,1772871072.512345678,0.000400000,-0.000001234,0.000010000,-3.250,-0.001,0.044,0.001000000,0.000200000,64.3,Normal\n"
                                  "^,*,203.0.113.5,2,6,377,20,-0.000120000,-0.000131000,0.011000000\n");
  EXPECT_EQ(document.format, "chronyc-csv");
  EXPECT_DOUBLE_EQ(clock_of(document).offset_s.value(), -0.0004);  // the correction is positive: the clock is slow
  EXPECT_EQ(clock_of(document).reference, "203.0.113.5");
  EXPECT_EQ(ids({document}), Ids{});
  EXPECT_EQ(ids({read_time("7F7F0101,,10,1772871072.5,0.000000000,0.0,0.0,0.0,0.0,0.0,0.000000000,0.000000000,0.0,Normal\n")}), Ids{"clock-local-only warning"});
  EXPECT_EQ(ids({read_time("00000000,,0,0.000000000,0.000000000,0.0,0.0,0.0,0.0,0.0,1.000000000,1.000000000,0.0,Not synchronised\n")}), Ids{"clock-sync error"});
}

TEST(Chronyc, KeepsLinesThatNobodyTook) {
  const auto document = read_time(tracking("CB007105 (clock.example)", "2", "0.000400000 seconds slow of NTP time", "Normal") + "Weather         : fine\n");
  ASSERT_EQ(document.reading.unread.size(), 1u);
  EXPECT_EQ(document.reading.unread[0].line, 14);
}

}  // namespace
}  // namespace verl::diagnosis
