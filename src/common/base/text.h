// Small text functions shared by everything that reads or prints lines.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace verl {

std::string_view trim(std::string_view text);  // spaces, tabs, CR, LF at both ends
std::vector<std::string_view> split(std::string_view text, char separator);  // keeps empty fields; "" gives one empty field
std::vector<std::string_view> split_whitespace(std::string_view text);       // no empty fields
std::string join(const std::vector<std::string>& parts, std::string_view separator);

// At most `limit` names, then "and N more".
std::string join_some(const std::vector<std::string>& names, size_t limit);

// Control characters and broken UTF-8 become \xNN, so that what a node says cannot move a terminal's cursor. Newline and tab are escaped too.
std::string escape_controls(std::string_view text);

// The whole text as a decimal integer, or nullopt (empty, sign only, trailing characters, out of range).
template <class Int = std::int64_t>
std::optional<Int> parse_int(std::string_view text) {
  Int value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// At most `limit` bytes, cut at a UTF-8 boundary, "…" appended when something was cut.
std::string shorten(std::string_view text, size_t limit);

}  // namespace verl
