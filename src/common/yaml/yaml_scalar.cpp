#include "yaml/yaml_scalar.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

namespace verl {
namespace {

template <size_t N>
bool one_of(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

struct Digits {
  std::string text{};
  int base{10};
  bool negative{false};
};

// Sign, prefix 0x, 0o, 0b or 0, digits; underscores are for the eye (Go's strconv.ParseInt with base 0, after the
// underscores were taken out, as kubectl's YAML library does).
std::optional<Digits> integer_digits(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), '_'), text.end());
  Digits digits{};
  size_t at = 0;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) digits.negative = text[at++] == '-';
  if (at < text.size() && text[at] == '0' && at + 1 < text.size()) {
    const char mark = text[at + 1];
    if (mark == 'x' || mark == 'X') {
      digits.base = 16;
      at += 2;
    } else if (mark == 'o' || mark == 'O') {
      digits.base = 8;
      at += 2;
    } else if (mark == 'b' || mark == 'B') {
      digits.base = 2;
      at += 2;
    } else {
      digits.base = 8;
      at += 1;
    }
  }
  digits.text = text.substr(at);
  if (digits.text.empty()) return std::nullopt;
  return digits;
}

std::optional<nlohmann::json> integer(const std::string& text) {
  const auto digits = integer_digits(text);
  if (!digits) return std::nullopt;
  std::uint64_t value = 0;
  const char* const end = digits->text.data() + digits->text.size();
  const auto [stopped, error] = std::from_chars(digits->text.data(), end, value, digits->base);
  if (error != std::errc{} || stopped != end) return std::nullopt;
  constexpr std::uint64_t kLowest = std::uint64_t{1} << 63;
  // Beyond 63 bits a number is a real to kubectl and the apiserver.
  if (!digits->negative) return value < kLowest ? nlohmann::json(static_cast<std::int64_t>(value)) : nlohmann::json(static_cast<double>(value));
  if (value > kLowest) return std::nullopt;
  return nlohmann::json(static_cast<std::int64_t>(~value + 1));
}

// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool looks_like_float(std::string_view text) {
  const auto digits = [&](size_t& at) {
    const size_t from = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
    return at - from;
  };
  size_t at = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  const size_t whole = digits(at);
  size_t fraction = 0;
  if (at < text.size() && text[at] == '.') {
    ++at;
    fraction = digits(at);
  }
  if (whole == 0 && fraction == 0) return false;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
    if (digits(at) == 0) return false;
  }
  return at == text.size();
}

std::optional<nlohmann::json> real(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), '_'), text.end());
  if (!looks_like_float(text)) return std::nullopt;
  std::string_view rest = text;
  if (rest[0] == '+') rest.remove_prefix(1);
  double value = 0;
  const auto [stopped, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (error != std::errc{} || stopped != rest.data() + rest.size()) return std::nullopt;
  // 8.0 is written as 8 on the way to JSON.
  if (std::trunc(value) == value && std::abs(value) < 9007199254740992.0) return nlohmann::json(static_cast<std::int64_t>(value));
  return nlohmann::json(value);
}

}  // namespace

std::optional<nlohmann::json> plain_scalar(const std::string& text) {
  static constexpr std::array<std::string_view, 5> kNull{"", "~", "null", "Null", "NULL"};
  static constexpr std::array<std::string_view, 11> kTrue{"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"};
  static constexpr std::array<std::string_view, 11> kFalse{"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"};
  static constexpr std::array<std::string_view, 12> kNotJson{".nan", ".NaN", ".NAN", ".inf", ".Inf", ".INF",
                                                             "+.inf", "+.Inf", "+.INF", "-.inf", "-.Inf", "-.INF"};
  if (one_of(text, kNull)) return nlohmann::json(nullptr);
  if (one_of(text, kTrue)) return nlohmann::json(true);
  if (one_of(text, kFalse)) return nlohmann::json(false);
  if (one_of(text, kNotJson)) return std::nullopt;
  const bool signed_or_digit = text[0] == '-' || text[0] == '+' || (text[0] >= '0' && text[0] <= '9');
  if (signed_or_digit) {
    if (auto number = integer(text)) return number;
  }
  if (signed_or_digit || (text[0] == '.' && text.find('_') == std::string::npos)) {
    if (auto number = real(text)) return number;
  }
  return nlohmann::json(text);
}

}  // namespace verl
