#include "diagnosis/time/text_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/text.h"
#include "diagnosis/rule.h"

namespace verl::diagnosis::time_text {
namespace {

struct Unit {
  std::string_view name{};
  double seconds{1};
};

constexpr std::array kUnits{
    Unit{"ns", 1e-9},     Unit{"us", 1e-6},      Unit{"\xC2\xB5s", 1e-6}, Unit{"\xCE\xBCs", 1e-6}, Unit{"ms", 1e-3},  Unit{"s", 1},
    Unit{"sec", 1},       Unit{"second", 1},     Unit{"seconds", 1},      Unit{"m", 60},           Unit{"min", 60},   Unit{"minutes", 60},
    Unit{"h", 3600},      Unit{"hours", 3600},   Unit{"d", 86400},        Unit{"days", 86400},     Unit{"w", 604800}, Unit{"month", 2629800},
    Unit{"y", 31557600},
};

std::optional<double> unit_named(std::string_view name) {
  const auto found = std::find_if(kUnits.begin(), kUnits.end(), [&](const Unit& one) { return one.name == name; });
  if (found == kUnits.end()) return std::nullopt;
  return found->seconds;
}

}  // namespace

std::vector<Line> lines_of(std::string_view text, const ReadOptions& options) {
  std::vector<Line> lines;
  std::int64_t number = 0;
  for (std::string_view one : split(text, '\n')) {
    ++number;
    if (one.ends_with('\r')) one.remove_suffix(1);
    if (options.strip_comment_prefix && one.starts_with('#')) {
      one.remove_prefix(1);
      if (one.starts_with(' ')) one.remove_prefix(1);
    }
    lines.push_back({.number = number, .text = one});
  }
  return lines;
}

bool is_scenery(std::string_view line) {
  line = trim(line);
  if (line.empty() || line.starts_with("$ ") || line.starts_with("```")) return true;
  if (line.find_first_not_of("=-_") == std::string_view::npos) return true;
  // "root@node:~# chronyc tracking", "[root@node ~]# ..."
  const size_t at = line.find('@');
  const size_t prompt = std::min(line.find("# "), line.find("$ "));
  return at != std::string_view::npos && prompt != std::string_view::npos && at < prompt && prompt < 80;
}

std::optional<std::pair<std::string_view, std::string_view>> key_value(std::string_view line, char separator) {
  const size_t at = line.find(separator);
  if (at == std::string_view::npos) return std::nullopt;
  return std::pair(trim(line.substr(0, at)), trim(line.substr(at + 1)));
}

std::optional<double> parse_real(std::string_view text) {
  if (text.starts_with('+') && text.size() > 1 && text[1] != '-') text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::optional<double> parse_span(std::string_view text, double unit_s) {
  constexpr size_t kMostParts = 12;
  const std::vector<std::string_view> parts = split_whitespace(text.substr(0, 200));
  if (parts.empty() || parts.size() > kMostParts) return std::nullopt;
  double total = 0;
  double sign = 1;
  for (size_t i = 0; i < parts.size(); ++i) {
    std::string_view part = parts[i];
    if (i == 0 && (part.starts_with('-') || part.starts_with('+'))) {
      if (part.front() == '-') sign = -1;
      part.remove_prefix(1);
    }
    const size_t digits = std::min(part.find_first_not_of("0123456789.eE"), part.size());
    const auto value = parse_real(part.substr(0, digits));
    if (!value || *value < 0) return std::nullopt;
    std::string_view unit = part.substr(digits);
    if (unit.empty() && i + 1 < parts.size() && unit_named(parts[i + 1])) unit = parts[++i];
    const std::optional<double> seconds = unit.empty() ? std::optional<double>(unit_s) : unit_named(unit);
    if (!seconds) return std::nullopt;
    if (unit.empty() && parts.size() > 1) return std::nullopt;
    total += *value * *seconds;
  }
  return sign * total;
}

std::string span_text(double seconds) {
  if (std::abs(seconds) >= 1) return fmt::format("{:.6f} s", seconds);
  return fmt::format("{:.3f} ms", seconds * 1e3);
}

Evidence evidence_of(const Line& line, const ReadOptions& options) {
  return {.source = options.name, .line = line.number, .text = shorten(trim(line.text), kEvidenceBytes)};
}

void unread(Reading& reading, const Line& line, std::string why) {
  add_unread(reading, {.line = line.number, .text = std::string(line.text.substr(0, kEvidenceBytes)), .why = std::move(why)});
}

void incomplete(Reading& reading, std::string subject, std::string message) {
  Finding finding = finding_of("document-incomplete", std::move(subject));
  finding.message = std::move(message);
  reading.findings.push_back(std::move(finding));
}

bool has_line(std::string_view head, std::string_view start) {
  for (size_t at = head.find(start); at != std::string_view::npos; at = head.find(start, at + 1)) {
    size_t before = at;
    while (before > 0 && (head[before - 1] == ' ' || head[before - 1] == '\t' || head[before - 1] == '#')) --before;
    if (before == 0 || head[before - 1] == '\n' || head[before - 1] == '\r') return true;
  }
  return false;
}

void put(Reading& reading, std::string name, Scalar value, std::string unit) {
  reading.values.push_back({.name = std::move(name), .value = std::move(value), .unit = std::move(unit)});
}

}  // namespace verl::diagnosis::time_text
