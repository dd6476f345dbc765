#include "base/text.h"

#include <fmt/format.h>

namespace verl {
namespace {

constexpr std::string_view kSpace = " \t\r\n";

// Length of the valid UTF-8 sequence at `pos`, 0 when there is none (overlong forms and surrogates are none).
size_t utf8_length(std::string_view text, size_t pos) {
  const auto at = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = at(pos);
  if (first < 0x80) return 1;
  const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || pos + length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((at(pos + i) & 0xC0) != 0x80) return 0;
  }
  const unsigned char second = at(pos + 1);
  if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) || (first == 0xF0 && second < 0x90) ||
      (first == 0xF4 && second > 0x8F)) {
    return 0;
  }
  return length;
}

}  // namespace

std::string_view trim(std::string_view text) {
  const size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t pos = text.find(separator);
    parts.push_back(text.substr(0, pos));
    if (pos == std::string_view::npos) return parts;
    text.remove_prefix(pos + 1);
  }
}

std::vector<std::string_view> split_whitespace(std::string_view text) {
  std::vector<std::string_view> parts;
  size_t pos = text.find_first_not_of(kSpace);
  while (pos != std::string_view::npos) {
    const size_t end = text.find_first_of(kSpace, pos);
    parts.push_back(text.substr(pos, end == std::string_view::npos ? end : end - pos));
    pos = end == std::string_view::npos ? end : text.find_first_not_of(kSpace, end);
  }
  return parts;
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

std::string join_some(const std::vector<std::string>& names, size_t limit) {
  if (names.size() <= limit) return join(names, ", ");
  const std::vector<std::string> shown(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(limit));
  return fmt::format("{} and {} more", join(shown, ", "), names.size() - limit);
}

std::string escape_controls(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t pos = 0; pos < text.size();) {
    const auto c = static_cast<unsigned char>(text[pos]);
    size_t length = utf8_length(text, pos);
    // C1 controls are two bytes in UTF-8 (C2 80 .. C2 9F) and some terminals obey them.
    const bool c1 = length == 2 && c == 0xC2 && static_cast<unsigned char>(text[pos + 1]) < 0xA0;
    if (length == 0 || c < 0x20 || c == 0x7F || c1) {
      length = length == 0 ? 1 : length;
      for (size_t i = 0; i < length; ++i) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[pos + i]));
    } else {
      out.append(text.substr(pos, length));
    }
    pos += length;
  }
  return out;
}

std::string shorten(std::string_view text, size_t limit) {
  constexpr std::string_view kEllipsis = "…";
  if (text.size() <= limit) return std::string(text);
  size_t end = limit < kEllipsis.size() ? 0 : limit - kEllipsis.size();
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return std::string(text.substr(0, end)) + (limit < kEllipsis.size() ? "" : std::string(kEllipsis));
}

}  // namespace verl
