#include "base/time.h"

#include <fmt/format.h>

#include <array>

namespace verl {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

// Reads exactly `count` digits at `pos` and moves past them; -1 when one is no digit.
int digits(std::string_view text, size_t& pos, size_t count) {
  if (pos + count > text.size()) return -1;
  int value = 0;
  for (size_t i = 0; i < count; ++i) {
    const char c = text[pos + i];
    if (c < '0' || c > '9') return -1;
    value = value * 10 + (c - '0');
  }
  pos += count;
  return value;
}

bool literal(std::string_view text, size_t& pos, std::string_view wanted) {
  if (pos > text.size() || text.substr(pos, wanted.size()) != wanted) return false;
  pos += wanted.size();
  return true;
}

std::optional<Timestamp> compose(int year, int month, int day, int hour, int minute, int second) {
  if (year < 1970 || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) return std::nullopt;
  if (month < 1 || day < 1) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year{year}, std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  if (!date.ok()) return std::nullopt;
  return Timestamp{std::chrono::sys_days{date}} + hours{hour} + minutes{minute} + seconds{second};
}

}  // namespace

std::string format_rfc3339(Timestamp t, bool fraction) {
  const auto day = std::chrono::floor<days>(t);
  const std::chrono::year_month_day date{day};
  const auto in_day = t - day;
  const auto h = std::chrono::duration_cast<hours>(in_day);
  const auto m = std::chrono::duration_cast<minutes>(in_day - h);
  const auto s = std::chrono::duration_cast<seconds>(in_day - h - m);
  const auto us = in_day - h - m - s;
  std::string text = fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(date.year()),
                                 static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), h.count(), m.count(), s.count());
  if (fraction) text += fmt::format(".{:06}", us.count());
  return text + "Z";
}

std::optional<Timestamp> parse_rfc3339(std::string_view text) {
  size_t pos = 0;
  const int year = digits(text, pos, 4);
  if (year < 0 || !literal(text, pos, "-")) return std::nullopt;
  const int month = digits(text, pos, 2);
  if (month < 0 || !literal(text, pos, "-")) return std::nullopt;
  const int day = digits(text, pos, 2);
  if (day < 0 || pos >= text.size() || (text[pos] != 'T' && text[pos] != 't' && text[pos] != ' ')) return std::nullopt;
  ++pos;
  const int hour = digits(text, pos, 2);
  if (hour < 0 || !literal(text, pos, ":")) return std::nullopt;
  const int minute = digits(text, pos, 2);
  if (minute < 0 || !literal(text, pos, ":")) return std::nullopt;
  const int second = digits(text, pos, 2);
  auto t = compose(year, month, day, hour, minute, second);
  if (!t) return std::nullopt;
  if (pos < text.size() && text[pos] == '.') {
    ++pos;
    long scale = 100'000;
    size_t count = 0;
    while (pos < text.size() && text[pos] >= '0' && text[pos] <= '9') {
      *t += Microseconds{(text[pos] - '0') * scale};
      scale /= 10;
      ++pos;
      ++count;
    }
    if (count == 0 || count > 9) return std::nullopt;
  }
  const std::string_view zone = text.substr(pos);
  if (zone == "Z" || zone == "z") return t;
  if (zone.size() != 6 || (zone[0] != '+' && zone[0] != '-')) return std::nullopt;
  pos += 1;
  const int zone_hours = digits(text, pos, 2);
  if (zone_hours < 0 || zone_hours > 23 || !literal(text, pos, ":")) return std::nullopt;
  const int zone_minutes = digits(text, pos, 2);
  if (zone_minutes < 0 || zone_minutes > 59) return std::nullopt;
  const auto offset = hours{zone_hours} + minutes{zone_minutes};
  return zone[0] == '+' ? *t - offset : *t + offset;
}

std::optional<Timestamp> parse_http_date(std::string_view text) {
  constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  size_t pos = 3;
  if (!literal(text, pos, ", ")) return std::nullopt;
  const int day = digits(text, pos, 2);
  if (day < 0 || !literal(text, pos, " ")) return std::nullopt;
  int month = 0;
  for (size_t i = 0; i < kMonths.size(); ++i) {
    if (text.substr(pos, 3) == kMonths[i]) month = static_cast<int>(i) + 1;
  }
  if (pos + 3 > text.size()) return std::nullopt;
  pos += 3;
  if (!literal(text, pos, " ")) return std::nullopt;
  const int year = digits(text, pos, 4);
  if (year < 0 || !literal(text, pos, " ")) return std::nullopt;
  const int hour = digits(text, pos, 2);
  if (hour < 0 || !literal(text, pos, ":")) return std::nullopt;
  const int minute = digits(text, pos, 2);
  if (minute < 0 || !literal(text, pos, ":")) return std::nullopt;
  const int second = digits(text, pos, 2);
  if (text.substr(pos) != " GMT") return std::nullopt;
  return compose(year, month, day, hour, minute, second);
}

std::string format_age(Seconds age) {
  const auto s = age.count() < 0 ? 0 : age.count();
  if (s >= 86'400) return fmt::format("{}d", s / 86'400);
  if (s >= 3'600) return fmt::format("{}h", s / 3'600);
  if (s >= 60) return fmt::format("{}m", s / 60);
  return fmt::format("{}s", s);
}

Timestamp SystemClock::now() const { return std::chrono::time_point_cast<Microseconds>(std::chrono::system_clock::now()); }

std::chrono::steady_clock::time_point SystemClock::steady() const { return std::chrono::steady_clock::now(); }

}  // namespace verl
