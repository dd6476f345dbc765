// The lines of a pasted text, with their numbers, and the small cuts that all readers of this folder make.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace verl::fabric {

struct Line {
  std::int64_t number{0};    // from 1
  std::string_view text{};   // as it stands, without the line's end
  std::string_view bare{};   // trimmed
};

// All lines, blank ones too. With strip_comment the "#" that somebody put before every line is taken away.
std::vector<Line> lines_of(std::string_view text, bool strip_comment = false);

struct KeyValue {
  std::string_view key{};
  std::string_view value{};
};

// "Physical state: LinkUp" at the first separator, both sides trimmed; nothing without a separator or a key.
std::optional<KeyValue> key_value(std::string_view line, char separator = ':');

// What stands in the first pair of quotes; empty when there is none.
std::string_view quoted(std::string_view text, char quote = '\'');

// "0x15" or "21"; nothing for other text.
std::optional<std::int64_t> hex_or_decimal(std::string_view text);

// A decimal number with or without fraction or exponent, all of the text, finite; nothing for other text. No locale.
std::optional<double> parse_double(std::string_view text);

bool contains(std::string_view text, std::string_view part);

}  // namespace verl::fabric
