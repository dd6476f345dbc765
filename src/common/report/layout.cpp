#include "report/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/broken_invariant.h"
#include "base/text.h"

namespace verl::report {
namespace {

struct Range {
  char32_t first{0};
  char32_t last{0};
};

template <size_t N>
bool within(const std::array<Range, N>& ranges, char32_t c) {
  return std::any_of(ranges.begin(), ranges.end(), [c](const Range& r) { return c >= r.first && c <= r.last; });
}

// Two columns wide: the blocks of Unicode's EastAsianWidth that are Wide or Fullwidth, and emoji.
constexpr std::array kWide{Range{0x1100, 0x115F}, Range{0x2E80, 0x303E}, Range{0x3041, 0x33FF}, Range{0x3400, 0x4DBF}, Range{0x4E00, 0x9FFF},
                           Range{0xA000, 0xA4CF}, Range{0xAC00, 0xD7A3}, Range{0xF900, 0xFAFF}, Range{0xFE30, 0xFE6F}, Range{0xFF00, 0xFF60},
                           Range{0xFFE0, 0xFFE6}, Range{0x1F300, 0x1F64F}, Range{0x1F900, 0x1F9FF}, Range{0x20000, 0x3FFFD}};

// No column of their own: marks that join the character before them.
constexpr std::array kCombining{Range{0x0300, 0x036F}, Range{0x0483, 0x0489}, Range{0x0591, 0x05BD}, Range{0x0610, 0x061A}, Range{0x064B, 0x065F},
                                Range{0x1AB0, 0x1AFF}, Range{0x1DC0, 0x1DFF}, Range{0x20D0, 0x20FF}, Range{0xFE00, 0xFE0F}, Range{0xFE20, 0xFE2F}};

// They turn the direction of a line, hide in it or break it.
constexpr std::array kHidden{Range{0x00AD, 0x00AD}, Range{0x061C, 0x061C}, Range{0x180E, 0x180E}, Range{0x200B, 0x200F}, Range{0x2028, 0x202E},
                             Range{0x2060, 0x206F}, Range{0xFEFF, 0xFEFF}, Range{0xFFF9, 0xFFFB}, Range{0xE0000, 0xE0FFF}};

struct Spelling {
  char32_t sign{0};
  std::string_view ascii{};
};
constexpr std::array kSpellings{Spelling{0x2265, ">="}, Spelling{0x2264, "<="}, Spelling{0x00D7, "x"}, Spelling{0x00B1, "+-"}, Spelling{0x2026, "..."},
                                Spelling{0x00B5, "u"},  Spelling{0x03BC, "u"},  Spelling{0x2013, "-"}, Spelling{0x2014, "-"},  Spelling{0x2192, "->"}};

// The character at `pos` of valid UTF-8, and its length.
char32_t decode(std::string_view text, size_t pos, size_t& length) {
  const auto at = [&](size_t i) { return static_cast<char32_t>(static_cast<unsigned char>(text[i])); };
  const char32_t first = at(pos);
  length = first < 0x80 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (pos + length > text.size()) {
    length = 1;
    return first;
  }
  char32_t value = length == 1 ? first : first & (0xFFU >> (length + 1));
  for (size_t i = 1; i < length; ++i) value = (value << 6U) | (at(pos + i) & 0x3FU);
  return value;
}

}  // namespace

std::string mark(Verdict verdict, const Style& style) {
  struct Mark {
    std::string_view sign{};
    std::string_view ascii{};
    std::string_view colour{};
  };
  const auto of = [verdict]() -> Mark {
    switch (verdict) {
      case Verdict::Pass: return {"√", "ok", "\033[32m"};
      case Verdict::Warn: return {"‼", "!!", "\033[33m"};
      case Verdict::Fail: return {"×", "XX", "\033[31m"};
      case Verdict::Unknown: return {"?", "??", "\033[35m"};
      case Verdict::Skipped: return {"-", "--", ""};
    }
    broken_invariant("a Verdict outside its enumeration");
  };
  const Mark one = of();
  const std::string_view sign = style.ascii ? one.ascii : one.sign;
  if (!style.colour || one.colour.empty()) return std::string(sign);
  return fmt::format("{}{}\033[0m", one.colour, sign);
}

std::string shown(std::string_view text, const Style& style) {
  const std::string clean = escape_controls(text);  // valid UTF-8 from here on
  std::string out;
  out.reserve(clean.size());
  for (size_t pos = 0; pos < clean.size();) {
    size_t length = 1;
    const char32_t c = decode(clean, pos, length);
    const auto spelling = std::find_if(kSpellings.begin(), kSpellings.end(), [c](const Spelling& s) { return s.sign == c; });
    if (style.ascii && spelling != kSpellings.end()) {
      out += spelling->ascii;
    } else if (within(kHidden, c) || (style.ascii && c > 0x7E)) {
      out += fmt::format("\\u{{{:04X}}}", static_cast<std::uint32_t>(c));
    } else {
      out.append(clean, pos, length);
    }
    pos += length;
  }
  return out;
}

size_t display_width(std::string_view text) {
  size_t width = 0;
  for (size_t pos = 0; pos < text.size();) {
    size_t length = 1;
    const char32_t c = decode(text, pos, length);
    pos += length;
    if (c == 0x1B) {  // our own colours
      while (pos < text.size() && text[pos] != 'm') ++pos;
      ++pos;
    } else if (!within(kCombining, c)) {
      width += within(kWide, c) ? 2 : 1;
    }
  }
  return width;
}

std::string pad(std::string text, size_t width) {
  const size_t has = display_width(text);
  if (has < width) text.append(width - has, ' ');
  return text;
}

std::string line_of(const std::string& left, const std::string& right) {
  if (right.empty()) return left + "\n";
  const size_t taken = display_width(right);
  return pad(left, std::max(kWidth > taken ? kWidth - taken : 0, display_width(left) + 2)) + right + "\n";
}

std::string heading(const std::string& title, const std::string& right) {
  return line_of(title, right) + std::string(display_width(title), '-') + "\n";
}

std::string plural(long long count, std::string_view one) { return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s"); }

}  // namespace verl::report
