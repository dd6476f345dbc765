#include "node-agent/incontainer/cpu_list.h"

#include <algorithm>
#include <charconv>

namespace verl::incontainer {
namespace {

constexpr unsigned kHighestCpu = 65535;

std::optional<unsigned> parse_cpu(std::string_view text) {
  unsigned cpu = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), cpu);
  if (error != std::errc{} || end != text.data() + text.size() || cpu > kHighestCpu) return std::nullopt;
  return cpu;
}

}  // namespace

std::optional<CpuList> parse_cpu_list(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  while (!text.empty() && (text.front() == '\t' || text.front() == ' ')) text.remove_prefix(1);
  CpuList cpus;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::string_view range = text.substr(0, comma);
    const size_t dash = range.find('-');
    const auto first = parse_cpu(range.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_cpu(range.substr(dash + 1));
    if (!first || !last || *last < *first || (!cpus.empty() && *first <= cpus.back().second)) return std::nullopt;
    cpus.emplace_back(*first, *last);
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
    if (text.empty()) return std::nullopt;
  }
  return cpus;
}

std::string to_string(const CpuList& cpus) {
  std::string text;
  for (const auto& [first, last] : cpus) {
    text += (text.empty() ? "" : ",") + std::to_string(first);
    if (last != first) text += "-" + std::to_string(last);
  }
  return text.empty() ? "none" : text;
}

bool overlap(const CpuList& a, const CpuList& b) {
  return std::any_of(a.begin(), a.end(), [&](const auto& one) {
    return std::any_of(b.begin(), b.end(), [&](const auto& other) { return one.first <= other.second && other.first <= one.second; });
  });
}

}  // namespace verl::incontainer
