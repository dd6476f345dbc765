// Sets of CPU (or NUMA node) numbers and the two ways tools print them: lists ("0-3,8") and masks of 32-bit words. Bounded, so
// that no text can make it large: numbers below kMostCpus, at most kMostCpus ranges.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace verl::topology {

constexpr std::int32_t kMostCpus = 65536;

struct CpuSet {
  std::vector<std::pair<std::int32_t, std::int32_t>> ranges{};  // first and last, ascending, apart from each other
  bool operator==(const CpuSet&) const = default;
};

// "0-3,8": the kernel's list format; blanks around commas are taken. Nothing for other text, for a range that runs backwards
// and for an empty text (which means "no CPU", a thing of its own: ask for it first).
std::optional<CpuSet> parse_cpu_list(std::string_view text);

// "00000000,0000ffff" (words of 32 bits, the most significant first) or hwloc's "0x00000003,,0x1" where an empty word is zero
// and a lone "0xf...f" prefix means all: nothing for that and for other text.
std::optional<CpuSet> parse_cpu_mask(std::string_view text);

CpuSet cpu_set_of(std::vector<std::int32_t> cpus);

std::string to_list(const CpuSet& set);  // "0-3,8"; "" when empty
std::int64_t count(const CpuSet& set);
bool contains(const CpuSet& outer, const CpuSet& inner);
CpuSet intersection(const CpuSet& a, const CpuSet& b);

// nvidia-smi of some driver versions cuts the list at 12 characters: single numbers at an equal stride above 1, a trailing comma or
// dash, or a range whose end lost digits, in a text of exactly that length. "0-51,104-155" has 12 and is whole.
constexpr std::size_t kTruncatedAt = 12;
bool looks_truncated(std::string_view text);

// The distance between neighbours when all are single numbers at one distance above 1: 2 for "0,2,4". Nothing otherwise.
std::optional<std::int32_t> stride(std::string_view text);

}  // namespace verl::topology
