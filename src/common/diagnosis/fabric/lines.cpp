#include "diagnosis/fabric/lines.h"

#include <cmath>

#include "base/text.h"

namespace verl::fabric {
namespace {

std::string_view without_comment(std::string_view text) {
  const std::string_view bare = trim(text);
  if (!bare.starts_with('#')) return text;
  return bare.substr(bare.starts_with("# ") ? 2 : 1);
}

}  // namespace

std::vector<Line> lines_of(std::string_view text, bool strip_comment) {
  std::vector<Line> lines;
  std::int64_t number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (strip_comment) line = without_comment(line);
    Line one;
    one.number = ++number;
    one.text = line;
    one.bare = trim(line);
    lines.push_back(one);
  }
  return lines;
}

std::optional<KeyValue> key_value(std::string_view line, char separator) {
  const std::size_t at = line.find(separator);
  if (at == std::string_view::npos) return std::nullopt;
  KeyValue pair;
  pair.key = trim(line.substr(0, at));
  pair.value = trim(line.substr(at + 1));
  if (pair.key.empty()) return std::nullopt;
  return pair;
}

std::string_view quoted(std::string_view text, char quote) {
  const std::size_t open = text.find(quote);
  if (open == std::string_view::npos) return {};
  const std::size_t close = text.find(quote, open + 1);
  if (close == std::string_view::npos) return {};
  return text.substr(open + 1, close - open - 1);
}

std::optional<std::int64_t> hex_or_decimal(std::string_view text) {
  text = trim(text);
  if (!text.starts_with("0x") && !text.starts_with("0X")) return parse_int(text);
  text.remove_prefix(2);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

std::optional<double> parse_double(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value)) return std::nullopt;
  return value;
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace verl::fabric
