#include "diagnosis/nccl/version.h"

#include <fmt/format.h>

#include <array>

#include "base/text.h"

namespace verl::nccl {

std::optional<Version> parse_version(std::string_view text) {
  text = trim(text);
  if (text.starts_with('v')) text.remove_prefix(1);
  text = text.substr(0, text.find_first_of("+-~ "));
  const auto parts = split(text, '.');
  if (parts.size() < 2 || parts.size() > 4) return std::nullopt;
  std::array<std::int32_t, 3> numbers{0, 0, 0};
  for (size_t i = 0; i < parts.size() && i < numbers.size(); ++i) {
    const auto number = parse_int<std::int32_t>(parts[i]);
    if (!number || *number < 0 || *number > 99) return std::nullopt;
    numbers[i] = *number;
  }
  return version(numbers[0], numbers[1], numbers[2]);
}

std::string to_string(Version code) { return fmt::format("{}.{}.{}", code / 10000, code / 100 % 100, code % 100); }

}  // namespace verl::nccl
