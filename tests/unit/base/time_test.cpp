#include "base/time.h"

#include <gtest/gtest.h>

namespace verl {
namespace {

using namespace std::chrono_literals;

constexpr Timestamp kNoon = Timestamp{std::chrono::sys_days{std::chrono::year{2026} / 11 / 30}} + 12h + 5min + 9s;

TEST(Time, PrintsAndReadsRfc3339) {
  EXPECT_EQ(format_rfc3339(kNoon), "2026-11-30T12:05:09Z");
  EXPECT_EQ(format_rfc3339(kNoon + 42us, true), "2026-11-30T12:05:09.000042Z");
  EXPECT_EQ(parse_rfc3339("2026-11-30T12:05:09Z"), kNoon);
  EXPECT_EQ(parse_rfc3339("2026-11-30T12:05:09.000042Z"), kNoon + 42us);
  EXPECT_EQ(parse_rfc3339("2026-11-30T12:05:09.123456789Z"), kNoon + 123456us);
  EXPECT_EQ(parse_rfc3339("2026-11-30T13:35:09+01:30"), kNoon);
  EXPECT_EQ(parse_rfc3339("2026-11-30T10:05:09-02:00"), kNoon);
}

TEST(Time, RefusesWhatIsNoRfc3339) {
  for (const std::string_view text : {"", "2026-11-30", "2026-11-30T12:05:09", "2026-02-30T12:05:09Z", "2026-11-30T24:00:00Z",
                                      "2026-11-30T12:05:60Z", "2026-11-30T12:05:09.Z", "2026-11-30T12:05:09Zx", "26-11-30T12:05:09Z",
                                      "2026-11-30T12:05:09+1:00", "1969-12-31T00:00:00Z", "2026-00-10T00:00:00Z"}) {
    EXPECT_EQ(parse_rfc3339(text), std::nullopt) << text;
  }
}

TEST(Time, ReadsTheHttpDate) {
  EXPECT_EQ(parse_http_date("Mon, 30 Nov 2026 12:05:09 GMT"), kNoon);
  for (const std::string_view text : {"", "Mon", "Mon, 30 Foo 2026 12:05:09 GMT", "Mon, 30 Nov 2026 12:05:09 CET", "30 Nov 2026 12:05:09 GMT"}) {
    EXPECT_EQ(parse_http_date(text), std::nullopt) << text;
  }
}

TEST(Time, PrintsAgesAsKubectlDoes) {
  EXPECT_EQ(format_age(-3s), "0s");
  EXPECT_EQ(format_age(59s), "59s");
  EXPECT_EQ(format_age(61s), "1m");
  EXPECT_EQ(format_age(3599s), "59m");
  EXPECT_EQ(format_age(7200s), "2h");
  EXPECT_EQ(format_age(200000s), "2d");
}

}  // namespace
}  // namespace verl
