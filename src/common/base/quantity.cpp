#include "base/quantity.h"

#include <array>
#include <limits>

namespace verl {
namespace {

__extension__ typedef __int128 WideInt;

struct Suffix {
  std::string_view text{};
  int base{10};
  int exponent{0};
};

constexpr std::array<Suffix, 16> kSuffixes{{{"Ki", 2, 10}, {"Mi", 2, 20}, {"Gi", 2, 30}, {"Ti", 2, 40}, {"Pi", 2, 50}, {"Ei", 2, 60},
                                            {"n", 10, -9}, {"u", 10, -6}, {"m", 10, -3}, {"", 10, 0},   {"k", 10, 3},  {"M", 10, 6},
                                            {"G", 10, 9},  {"T", 10, 12}, {"P", 10, 15}, {"E", 10, 18}}};

struct Number {
  WideInt mantissa{0};
  int fraction_digits{0};
};

// Digits with at most one point; `pos` moves past them. More than 27 digits are refused, far above any real quantity.
std::optional<Number> number(std::string_view text, size_t& pos) {
  Number n{};
  int seen = 0;
  bool point = false;
  for (; pos < text.size(); ++pos) {
    const char c = text[pos];
    if (c == '.' && !point) {
      point = true;
    } else if (c >= '0' && c <= '9') {
      if (++seen > 27) return std::nullopt;
      n.mantissa = n.mantissa * 10 + (c - '0');
      if (point) ++n.fraction_digits;
    } else {
      break;
    }
  }
  if (seen == 0) return std::nullopt;
  return n;
}

std::optional<int> exponent_of(std::string_view text) {
  if (text.size() < 2 || (text[0] != 'e' && text[0] != 'E')) return std::nullopt;
  size_t pos = 1;
  const bool negative = text[pos] == '-';
  if (text[pos] == '-' || text[pos] == '+') ++pos;
  if (pos >= text.size() || text.size() - pos > 2) return std::nullopt;
  int value = 0;
  for (; pos < text.size(); ++pos) {
    if (text[pos] < '0' || text[pos] > '9') return std::nullopt;
    value = value * 10 + (text[pos] - '0');
  }
  return negative ? -value : value;
}

// mantissa * base^exponent * 10^-fraction_digits * 10^scale, rounded up; nullopt when it leaves int64.
std::optional<std::int64_t> scaled(Number n, int base, int exponent, int scale) {
  constexpr WideInt kMax = std::numeric_limits<std::int64_t>::max();
  int tens = scale - n.fraction_digits;
  WideInt value = n.mantissa;
  if (base == 10) {
    tens += exponent;
  } else {
    for (int i = 0; i < exponent; ++i) {
      value *= 2;
      if (value > kMax * 1'000'000'000) return std::nullopt;
    }
  }
  for (; tens > 0; --tens) {
    value *= 10;
    if (value > kMax * 1'000'000'000) return std::nullopt;
  }
  bool inexact = false;
  for (; tens < 0; ++tens) {
    inexact = inexact || value % 10 != 0;
    value /= 10;
  }
  if (inexact) value += 1;
  if (value > kMax) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

std::optional<std::int64_t> parse_scaled(std::string_view text, int scale) {
  size_t pos = 0;
  if (!text.empty() && text[0] == '+') pos = 1;
  const auto n = number(text, pos);
  if (!n) return std::nullopt;
  const std::string_view rest = text.substr(pos);
  for (const Suffix& suffix : kSuffixes) {
    if (rest == suffix.text) return scaled(*n, suffix.base, suffix.exponent, scale);
  }
  const auto exponent = exponent_of(rest);
  if (!exponent) return std::nullopt;
  return scaled(*n, 10, *exponent, scale);
}

}  // namespace

std::optional<std::int64_t> parse_quantity_milli(std::string_view text) { return parse_scaled(text, 3); }

std::optional<std::int64_t> parse_quantity(std::string_view text) { return parse_scaled(text, 0); }

std::string format_bytes_quantity(std::int64_t bytes) {
  constexpr std::array<std::string_view, 5> kBinary{"", "Ki", "Mi", "Gi", "Ti"};
  size_t unit = 0;
  while (bytes != 0 && bytes % 1024 == 0 && unit + 1 < kBinary.size()) {
    bytes /= 1024;
    ++unit;
  }
  return std::to_string(bytes) + std::string(kBinary[unit]);
}

}  // namespace verl
