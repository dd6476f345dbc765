#include "diagnosis/nccl/read_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/text.h"

namespace verl::nccl {
namespace {

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

struct LevelWord {
  std::string_view word{};
  Version since{0};
};

constexpr std::array kPathLevels{
    LevelWord{"LOC", 0},   LevelWord{"NVL", 0},   LevelWord{"NVB", version(2, 9)},     LevelWord{"C2C", version(2, 26)},
    LevelWord{"PIX", 0},   LevelWord{"PXB", 0},   LevelWord{"P2C", version(2, 27)},    LevelWord{"PXN", version(2, 12)},
    LevelWord{"PHB", 0},   LevelWord{"SYS", 0},
};
constexpr std::array kMergeLevels{
    LevelWord{"LOC", 0}, LevelWord{"PORT", 0}, LevelWord{"PIX", 0}, LevelWord{"PXB", 0}, LevelWord{"P2C", version(2, 27)},
    LevelWord{"PXN", 0}, LevelWord{"PHB", 0},  LevelWord{"SYS", 0}, LevelWord{"NET", 0},
};
constexpr std::array<std::string_view, 6> kNumbered{"LOC", "PIX", "PXB", "PHB", "SYS", "SYS"};  // 0 to 5; more is 5

std::span<const LevelWord> words_of(std::string_view name) {
  if (name == "NCCL_NET_MERGE_LEVEL") return kMergeLevels;
  return kPathLevels;
}

// Released with the reader that takes 1/T/TRUE.
struct NewReader {
  std::string_view name{};
  Version since{0};
};
constexpr std::array kBooleans{NewReader{"NCCL_SET_THREAD_NAME", version(2, 30, 7)}, NewReader{"NCCL_WARN_ENABLE_DEBUG_INFO", version(2, 30, 7)},
                               NewReader{"NCCL_PARAM_DUMP_ALL", version(2, 30, 3)}};

const NewReader* new_reader(std::string_view name) {
  const auto found = std::find_if(kBooleans.begin(), kBooleans.end(), [&](const NewReader& one) { return one.name == name; });
  return found == kBooleans.end() ? nullptr : &*found;
}

}  // namespace

IntegerText read_integer(std::string_view text) {
  IntegerText read;
  if (text.empty()) return read;
  size_t at = std::min(text.find_first_not_of(" \t\n\v\f\r"), text.size());
  const bool minus = at < text.size() && text[at] == '-';
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
  if (at < text.size() && text[at] == '0') {
    const bool hexadecimal = at + 2 < text.size() && lower(text[at + 1]) == 'x' && digit_of(text[at + 2]) < 16;
    read.base = hexadecimal ? 16 : 8;
    if (hexadecimal) at += 2;
  }
  // Gathered below zero: the smallest number has no positive twin.
  constexpr auto kMin = std::numeric_limits<std::int64_t>::min();
  std::int64_t value = 0;
  for (; at < text.size() && digit_of(text[at]) < read.base; ++at) {
    read.digits = true;
    const int digit = digit_of(text[at]);
    if (value < kMin / read.base || value * read.base < kMin + digit) {
      read.overflow = true;
      continue;
    }
    value = value * read.base - digit;
  }
  if (!minus && value == kMin) read.overflow = true;
  read.rest = read.digits ? text.substr(at) : text;
  if (!read.digits) read.base = 10;
  if (!read.overflow) read.number = minus || value == kMin ? value : -value;
  return read;
}

std::optional<bool> read_boolean(std::string_view text) {
  if (text == "1" || equal_ignoring_case(text, "t") || equal_ignoring_case(text, "true")) return true;
  if (text == "0" || equal_ignoring_case(text, "f") || equal_ignoring_case(text, "false")) return false;
  return std::nullopt;
}

bool reads_as_boolean(const Variable& variable, Version version) {
  const NewReader* reader = new_reader(variable.name);
  return reader && version >= reader->since;
}

bool reads_as_integer(const Variable& variable, std::optional<Version> version) {
  const bool integer = variable.type == Type::Bool || variable.type == Type::Int || variable.type == Type::Size;
  const bool layer = of_libnccl(variable) || variable.layer == Layer::SharpPlugin;  // the plugin has a copy of the same reader
  if (!integer || !layer || !variable.name.starts_with("NCCL_") || variable.name == "NCCL_SOCKET_MAGIC") return false;
  return !new_reader(variable.name) || (version && !reads_as_boolean(variable, *version));
}

bool acts_on_one_only(std::string_view name) {
  constexpr std::array<std::string_view, 4> kNames{"NCCL_P2P_DISABLE", "NCCL_SHM_DISABLE", "NCCL_NET_DISABLE_INTRA", "NCCL_CHECK_POINTERS"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

std::optional<std::string_view> read_level(std::string_view name, std::string_view text, std::optional<Version> version) {
  for (const LevelWord& one : words_of(name)) {
    if (one.word == text && (!version || *version >= one.since)) return one.word;
  }
  if (name == "NCCL_NET_MERGE_LEVEL" || text.empty() || text[0] < '0' || text[0] > '9') return std::nullopt;
  const std::int64_t number = read_integer(text).number.value_or(5);
  return kNumbered[static_cast<size_t>(std::clamp<std::int64_t>(number, 0, 5))];
}

std::string level_words(std::string_view name, std::optional<Version> version) {
  std::vector<std::string> words;
  for (const LevelWord& one : words_of(name)) {
    if (!version || *version >= one.since) words.emplace_back(one.word);
  }
  return join(words, ", ");
}

std::string used_integer(const Variable& variable, std::string_view text, std::optional<Version> version) {
  const IntegerText read = read_integer(text);
  if (read.number) return std::to_string(*read.number);
  const std::string_view standard = standard_at(variable, version);
  return standard.empty() ? "the default" : fmt::format("the default ({})", standard);
}

std::optional<std::int64_t> number_of(std::optional<std::string_view> text) { return text ? read_integer(*text).number : std::nullopt; }

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace verl::nccl
