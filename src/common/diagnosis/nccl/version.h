// NCCL's version as one number that compares: 2.27.3 is 22703, as ncclGetVersion() says since 2.9.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace verl::nccl {

using Version = std::int32_t;

constexpr Version version(std::int32_t major, std::int32_t minor, std::int32_t patch = 0) { return major * 10000 + minor * 100 + patch; }

// "2.27.3", "2.27", "v2.27.3-1", "2.27.3+cuda12.4"; nothing for any other text.
std::optional<Version> parse_version(std::string_view text);

std::string to_string(Version code);  // "2.27.3"

}  // namespace verl::nccl
