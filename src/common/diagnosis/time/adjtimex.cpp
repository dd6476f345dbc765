// What the kernel says of its clock: adjtimex --print and ntptime. The flag UNSYNC alone proves nothing (clock.h).
#include <fmt/format.h>

#include <charconv>

#include "base/text.h"
#include "diagnosis/time/readers.h"
#include "diagnosis/time/text_lines.h"

namespace verl::diagnosis {
namespace {

using namespace time_text;

constexpr std::int64_t kUnsynchronised = 0x40;  // STA_UNSYNC, linux/timex.h
constexpr std::int64_t kInsert = 0x10;
constexpr std::int64_t kDelete = 0x20;
constexpr std::int64_t kNano = 0x2000;

struct KernelText {
  std::optional<double> max_error_us{};
  bool estimated_read{false};
  std::optional<double> offset{};
  std::string offset_unit{};
  std::optional<std::int64_t> status{};
  std::optional<std::int64_t> returned{};
  Evidence evidence{};
};

std::optional<std::int64_t> number_of(std::string_view text) {
  if (text.starts_with("0x")) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), value, 16);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
  }
  return parse_int(text);
}

// "64 (UNSYNC)", "2350 us", "0x2001 (PLL,NANO)": the first word, and the second for the unit.
bool take(std::string_view key, std::string_view value, const Line& line, const ReadOptions& options, Reading& reading, KernelText& text) {
  const std::vector<std::string_view> words = split_whitespace(value);
  if (words.empty()) return false;
  const std::string_view unit = words.size() > 1 ? words[1] : std::string_view{};
  if (key == "maxerror" || key == "maximum error") {
    text.max_error_us = parse_real(words[0]);
    text.evidence = evidence_of(line, options);
    if (!text.max_error_us) return false;
    put(reading, "maxerror", *text.max_error_us, "us");
  } else if (key == "esterror" || key == "estimated error") {
    const auto number = parse_real(words[0]);
    if (!number) return false;
    text.estimated_read = true;
    put(reading, "esterror", *number, "us");
  } else if (key == "offset") {
    text.offset = parse_real(words[0]);
    text.offset_unit = std::string(unit);
    if (!text.offset) return false;
  } else if (key == "status") {
    text.status = number_of(words[0]);
    if (!text.status) return false;
    put(reading, "status", *text.status);
    put(reading, "status_flags", std::string(trim(value.substr(words[0].size()))));
  } else if (key == "return value" || key == "returns code") {
    text.returned = number_of(words[0]);
    if (!text.returned) return false;
    put(reading, "return", *text.returned);
  } else if (key == "TAI offset" || key == "tai") {
    const auto number = parse_int(words[0]);
    if (!number) return false;
    put(reading, "tai_offset", *number, "s");
  } else {
    put(reading, "kernel." + shorten(key, 40), std::string(value));
  }
  return true;
}

// adjtimex: "-f  freq.adjust:  -183402 (...)", " return value = 5". Newer ones write "frequency", "time_constant", "raw time".
bool take_adjtimex(const Line& line, const ReadOptions& options, Reading& reading, KernelText& text) {
  std::string_view rest = trim(line.text);
  if (rest.starts_with('-') && rest.size() > 2 && rest[2] == ' ') rest = trim(rest.substr(2));
  const auto pair = rest.find(':') < rest.find('=') ? key_value(rest, ':') : key_value(rest, '=');
  if (!pair || pair->first.empty() || pair->first.size() > 30) return false;
  return take(pair->first, pair->second, line, options, reading, text);
}

// ntptime: "  maximum error 2350 us, estimated error 712 us, TAI offset 37"
bool take_ntptime(const Line& line, const ReadOptions& options, Reading& reading, KernelText& text) {
  const std::string_view rest = trim(line.text);
  if (rest.starts_with("ntp_gettime()") || rest.starts_with("ntp_adjtime()")) {
    const size_t code = rest.find("returns code ");
    if (code == std::string_view::npos) return false;
    return rest.starts_with("ntp_gettime()") || take("returns code", rest.substr(code + 13), line, options, reading, text);
  }
  bool all = true;
  std::string_view left = rest;
  while (!left.empty()) {
    // Commas inside brackets separate flags, not fields.
    const size_t open = left.find('(');
    size_t comma = left.find(',');
    if (open < comma) {
      const size_t close = left.find(')', open);
      comma = close == std::string_view::npos ? std::string_view::npos : left.find(',', close);
    }
    const std::string_view item = trim(left.substr(0, comma));
    left = comma == std::string_view::npos ? std::string_view{} : left.substr(comma + 1);
    if (item.empty()) continue;
    const size_t digit = item.find_first_of("0123456789+-");
    if (digit == std::string_view::npos || digit == 0) {
      all = false;
      continue;
    }
    const std::string_view key = trim(item.substr(0, digit));
    // Both calls print it; the first says it all.
    if ((key == "maximum error" && text.max_error_us) || (key == "estimated error" && text.estimated_read)) continue;
    all = take(key, item.substr(digit), line, options, reading, text) && all;
  }
  return all;
}

}  // namespace

int like_adjtimex(std::string_view head) {
  if (has_line(head, "ntp_gettime()") || has_line(head, "ntp_adjtime()")) return 95;
  const bool errors = head.find("maxerror") != std::string_view::npos && head.find("esterror") != std::string_view::npos;
  return errors && head.find("status") != std::string_view::npos ? 92 : 0;
}

Result<Reading> read_adjtimex(std::string_view text, const ReadOptions& options) {
  Reading reading;
  KernelText found;
  const bool ntptime = has_line(text.substr(0, kLikenessBytes), "ntp_gettime()") || has_line(text.substr(0, kLikenessBytes), "ntp_adjtime()");
  for (const Line& one : lines_of(text, options)) {
    if (is_scenery(one.text)) continue;
    if (ntptime && trim(one.text).starts_with("time ") && trim(one.text).find("constant") == std::string_view::npos) continue;
    const bool taken = ntptime ? take_ntptime(one, options, reading, found) : take_adjtimex(one, options, reading, found);
    if (!taken) unread(reading, one, "not a field of the kernel's clock");
  }
  if (!found.max_error_us && !found.status && !found.returned) return failure(ErrorCode::Invalid, "neither maxerror nor status nor the return value is in it");
  clock::Statement statement;
  statement.witness = clock::Witness::Kernel;
  statement.tool = ntptime ? "ntptime" : "adjtimex";
  statement.evidence = found.evidence;
  if (found.status) {
    statement.flag = (*found.status & kUnsynchronised) == 0;
    statement.leap_second = (*found.status & (kInsert | kDelete)) != 0;
  } else if (found.returned) {
    statement.flag = *found.returned != 5;
  }
  if (!found.max_error_us) {
    incomplete(reading, "maxerror", "the kernel's maximum error is missing: the flag alone says neither that the clock is disciplined nor that it is not");
  } else {
    statement.max_error_s = *found.max_error_us / 1e6;
    const double bounded = std::min(std::max(*found.max_error_us, -1.0), 1e12);
    const clock::Judgement judged = clock::judge_kernel({.state = 0, .status = found.status.value_or(0), .max_error = Microseconds(static_cast<std::int64_t>(bounded))});
    statement.state = judged.state;
    statement.why = judged.state == clock::State::Unsynchronised ? "nothing disciplines the clock: the kernel's maximum error is 16 s or more" : judged.evidence;
  }
  if (found.offset) {
    const bool nanoseconds = found.offset_unit.starts_with("ns") || (found.offset_unit.empty() && found.status && (*found.status & kNano) != 0);
    const double seconds = *found.offset * (nanoseconds ? 1e-9 : 1e-6);
    put(reading, "offset", seconds, "s");
    // What the kernel still has to add to the clock.
    statement.offset_s = -seconds;
  }
  clock::add(own_node(reading).clock, std::move(statement));
  return reading;
}

}  // namespace verl::diagnosis
