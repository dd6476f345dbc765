// Sets of CPUs as the kernel writes them: "0-47,96-143".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace verl::incontainer {

using CpuList = std::vector<std::pair<unsigned, unsigned>>;  // first and last of each range, ascending

// Nothing for what the kernel would not write. An empty line is the empty set.
std::optional<CpuList> parse_cpu_list(std::string_view text);

std::string to_string(const CpuList& cpus);

bool overlap(const CpuList& a, const CpuList& b);

}  // namespace verl::incontainer
