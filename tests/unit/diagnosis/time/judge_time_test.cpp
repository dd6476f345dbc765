#include "tests/unit/diagnosis/time/read_time.h"

#include "diagnosis/time/text_lines.h"

namespace verl::diagnosis {
namespace {

ReadDocument csv(std::string_view id, std::string_view stratum, std::string_view correction, std::string node) {
  return read_time(std::string(id) + ",," + std::string(stratum) + ",1772871072.5," + std::string(correction) + ",0.0,0.0,0.0,0.0,0.0,0.001,0.0002,64.3,Normal\n", std::move(node));
}

TEST(ClockSkew, IsTheDifferenceOfOffsetsWithItsBound) {
  const auto found = diagnose({csv("CB007105", "3", "0.0002", "a"), csv("CB007106", "3", "-0.0003", "b"), csv("CB007106", "3", "0.0001", "c")}, {}).findings;
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].id, "clock-skew");
  EXPECT_EQ(found[0].severity, Severity::Info);
  EXPECT_EQ(found[0].seen, "0.000500000 s");
  EXPECT_EQ(found[0].nodes, (std::vector<std::string>{"a", "b"}));
  EXPECT_NE(found[0].message.find("known to 1.900 ms"), std::string::npos);
}

TEST(ClockSkew, IsJudgedByThePolicy) {
  EXPECT_EQ(ids({csv("CB007105", "3", "0.04", "a"), csv("CB007105", "3", "-0.04", "b")}), Ids{"clock-skew info"});  // no more than the bounds allow
  Policy strict;
  strict.clock_warn = Microseconds(100);
  strict.clock_fail = Microseconds(200'000);
  const auto found = ids({csv("CB007105", "3", "0.0", "a"), csv("CB007105", "3", "0.0", "b")}, strict);
  EXPECT_EQ(found.back(), "clock-skew info");
}

TEST(ClockTies, OwnClocksAreUntied) {
  EXPECT_EQ(ids({csv("7F7F0101", "10", "0", "a"), csv("7F7F0101", "10", "0", "b")}), (Ids{"clock-untied error", "clock-local-only warning", "clock-local-only warning"}));
  EXPECT_EQ(ids({csv("7F7F0101", "10", "0", "a"), csv("CB007105", "3", "0", "b")}), (Ids{"clock-untied error", "clock-local-only warning"}));
}

TEST(ClockTies, OneServerOfTheSiteTiesThem) {
  Policy policy;
  policy.allow_local_reference = true;
  EXPECT_EQ(ids({csv("CB007105", "11", "0", "a"), csv("CB007105", "11", "0", "b")}, policy), Ids{"clock-skew info"});
  EXPECT_EQ(ids({csv("CB007105", "11", "0", "a"), csv("CB007106", "11", "0", "b")}, policy), (Ids{"clock-untied error", "clock-skew info"}));
  EXPECT_EQ(ids({csv("CB007105", "11", "0", "a"), csv("CB007105", "11", "0", "b")}), (Ids{"clock-local-reference warning", "clock-local-reference warning", "clock-skew info"}));
}

TEST(ClockTies, TheSitesServerMayBeANodeItself) {
  Policy policy;
  policy.allow_local_reference = true;
  ReadDocument server = csv("7F7F0101", "10", "0", "head");
  fabric::Interface one;
  one.name = "eno1";
  one.addresses = {"203.0.113.5/24"};
  server.reading.nodes.front().second.fabric.interfaces.push_back(one);
  EXPECT_EQ(ids({server, csv("CB007105", "11", "0", "b")}, policy), Ids{"clock-local-only warning"});
}

TEST(ClockDaemons, TwoAtOnceAreNamed) {
  const auto ntpd = read_time("     remote           refid      st t when poll reach   delay   offset  jitter\n=====\n*tick.example.co 203.0.113.70     2 u    2   64  377    4.210   -1.250   0.333\n", "a");
  EXPECT_EQ(ids({csv("CB007105", "3", "0", "a"), ntpd}), Ids{"clock-two-daemons warning"});
}

TEST(TimeText, ReadsSpans) {
  using time_text::parse_span;
  EXPECT_DOUBLE_EQ(parse_span("-923us").value(), -923e-6);
  EXPECT_DOUBLE_EQ(parse_span("8min 32s").value(), 512);
  EXPECT_DOUBLE_EQ(parse_span("41.5 seconds").value(), 41.5);
  EXPECT_DOUBLE_EQ(parse_span("12").value(), 12);
  EXPECT_FALSE(parse_span("12 parsecs"));
  EXPECT_FALSE(parse_span(""));
  EXPECT_FALSE(parse_span("1e999"));
  EXPECT_FALSE(parse_span("nan"));
}

}  // namespace
}  // namespace verl::diagnosis
