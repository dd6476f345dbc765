// The list syntax of NCCL_SOCKET_IFNAME, NCCL_IB_HCA and NCCL_OOB_NET_IFNAME exactly as libnccl reads it (src/misc/utils.cc,
// parseStringList and matchIfList): what a text selects, never whether that is wise.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace verl::nccl {

constexpr std::int32_t kAnyPort = -1;
constexpr std::size_t kMostInterfaces = 16;  // MAX_IFS: entries and interfaces taken
constexpr std::size_t kMostDevices = 32;     // MAX_IB_DEVS; 16 up to 2.18.3

struct SelectionEntry {
  std::string name{};           // a prefix, or the whole name in an exact list
  std::int32_t port{kAnyPort};  // as atoi reads it: "x" is 0, which is no port
  bool operator==(const SelectionEntry&) const = default;
};

struct Selection {
  bool exclude{false};                   // "^" in front
  bool exact{false};                     // "=" in front or right behind "^"
  std::vector<SelectionEntry> entries{}; // none: the list selects all, or with "^" nothing
  std::size_t dropped{0};                // entries behind the limit, which NCCL does not see
  bool operator==(const Selection&) const = default;
};

Selection parse_selection(std::string_view text, std::size_t most);

bool matches(const Selection& selection, const SelectionEntry& entry, std::string_view name, std::int32_t port = kAnyPort);

// Is the thing of that name taken? Counts "^".
bool selects(const Selection& selection, std::string_view name, std::int32_t port = kAnyPort);

// The text that would be parsed to it: "^=a,b:1".
std::string to_string(const Selection& selection);

}  // namespace verl::nccl
