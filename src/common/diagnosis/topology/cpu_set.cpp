#include "diagnosis/topology/cpu_set.h"

#include <algorithm>

#include "base/text.h"
#include "diagnosis/topology/pci.h"

namespace verl::topology {
namespace {

using Range = std::pair<std::int32_t, std::int32_t>;

std::optional<std::int32_t> number(std::string_view text) {
  if (text.empty() || text.front() == '-' || text.front() == '+') return std::nullopt;
  const auto value = parse_int<std::int32_t>(text);
  return value && *value < kMostCpus ? value : std::nullopt;
}

std::optional<Range> range(std::string_view text) {
  const size_t dash = text.find('-');
  const auto first = number(text.substr(0, dash));
  const auto last = dash == std::string_view::npos ? first : number(text.substr(dash + 1));
  if (!first || !last || *last < *first) return std::nullopt;
  return Range{*first, *last};
}

CpuSet normalised(std::vector<Range> ranges) {
  std::sort(ranges.begin(), ranges.end());
  CpuSet set;
  for (const Range& one : ranges) {
    if (!set.ranges.empty() && one.first <= set.ranges.back().second + 1) {
      set.ranges.back().second = std::max(set.ranges.back().second, one.second);
    } else {
      set.ranges.push_back(one);
    }
  }
  return set;
}

}  // namespace

std::optional<CpuSet> parse_cpu_list(std::string_view text) {
  text = trim(text);
  if (text.empty() || text.size() > static_cast<size_t>(kMostCpus) * 6) return std::nullopt;
  std::vector<Range> ranges;
  for (const std::string_view part : split(text, ',')) {
    const auto one = range(trim(part));
    if (!one) return std::nullopt;
    ranges.push_back(*one);
  }
  return normalised(std::move(ranges));
}

std::optional<CpuSet> parse_cpu_mask(std::string_view text) {
  text = trim(text);
  if (text.empty()) return std::nullopt;
  const std::vector<std::string_view> words = split(text, ',');
  if (words.size() > kMostCpus / 32) return std::nullopt;
  std::vector<Range> ranges;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = trim(words[words.size() - 1 - i]);
    if (word.empty()) continue;
    const std::string_view digits = word.starts_with("0x") ? word.substr(2) : word;
    if (digits.empty() || digits.size() > 8) return std::nullopt;
    const auto bits = parse_hex(digits);
    if (!bits) return std::nullopt;
    for (std::int32_t bit = 0; bit < 32; ++bit) {
      if (((*bits >> bit) & 1U) == 0) continue;
      const std::int32_t cpu = static_cast<std::int32_t>(i) * 32 + bit;
      if (!ranges.empty() && ranges.back().second + 1 == cpu) {
        ranges.back().second = cpu;
      } else {
        ranges.emplace_back(cpu, cpu);
      }
    }
  }
  return normalised(std::move(ranges));
}

CpuSet cpu_set_of(std::vector<std::int32_t> cpus) {
  std::vector<Range> ranges;
  ranges.reserve(cpus.size());
  for (const std::int32_t one : cpus) ranges.emplace_back(one, one);
  return normalised(std::move(ranges));
}

std::string to_list(const CpuSet& set) {
  std::string text;
  for (const auto& [first, last] : set.ranges) {
    if (!text.empty()) text += ',';
    text += std::to_string(first);
    if (last != first) text += '-' + std::to_string(last);
  }
  return text;
}

std::int64_t count(const CpuSet& set) {
  std::int64_t total = 0;
  for (const auto& [first, last] : set.ranges) total += last - first + 1;
  return total;
}

CpuSet intersection(const CpuSet& a, const CpuSet& b) {
  CpuSet both;
  size_t i = 0;
  size_t j = 0;
  while (i < a.ranges.size() && j < b.ranges.size()) {
    const std::int32_t first = std::max(a.ranges[i].first, b.ranges[j].first);
    const std::int32_t last = std::min(a.ranges[i].second, b.ranges[j].second);
    if (first <= last) both.ranges.emplace_back(first, last);
    if (a.ranges[i].second < b.ranges[j].second) {
      ++i;
    } else {
      ++j;
    }
  }
  return both;
}

bool contains(const CpuSet& outer, const CpuSet& inner) { return intersection(outer, inner) == inner; }

std::optional<std::int32_t> stride(std::string_view text) {
  std::vector<std::int32_t> numbers;
  for (const std::string_view part : split(trim(text), ',')) {
    if (part.empty()) continue;
    const auto one = number(part);
    if (!one) return std::nullopt;
    numbers.push_back(*one);
  }
  if (numbers.size() < 3) return std::nullopt;
  const std::int32_t step = numbers[1] - numbers[0];
  // The last number may have lost digits: it is not looked at when more than three are there.
  const size_t looked_at = numbers.size() > 3 ? numbers.size() - 1 : numbers.size();
  for (size_t i = 1; i < looked_at; ++i) {
    if (numbers[i] - numbers[i - 1] != step) return std::nullopt;
  }
  return step > 1 ? std::optional(step) : std::nullopt;
}

bool looks_truncated(std::string_view text) {
  text = trim(text);
  if (text.ends_with(',') || text.ends_with('-')) return true;
  if (text.size() != kTruncatedAt) return false;
  if (stride(text)) return true;
  const size_t comma = text.rfind(',');
  const std::string_view last = comma == std::string_view::npos ? text : text.substr(comma + 1);
  const size_t dash = last.find('-');
  if (dash == std::string_view::npos) return false;
  const auto from = number(last.substr(0, dash));
  const auto to = number(last.substr(dash + 1));
  return from && to && *to < *from;
}

}  // namespace verl::topology
