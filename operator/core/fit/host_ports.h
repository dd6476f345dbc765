// Host ports as the scheduler compares them, and a free block of them for a gang.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/node.h"

namespace verl::core::fit {

struct NodeUse;

// The one of `taken` that cannot stand beside `wanted`: same protocol and port, and the same address or either on all
// addresses (empty or 0.0.0.0; an IPv6 wildcard is an address like any other, as in the scheduler). Null: none.
const api::HostPort* conflicting(const std::vector<api::HostPort>& taken, const api::HostPort& wanted);

std::string shown_port(const api::HostPort& port);  // "TCP 20000", "UDP 10.0.0.1:53"

constexpr std::int32_t kBlockSize = 16;
// NCCL's RAS subsystem listens on 28028 by default; a margin around it stays free.
constexpr std::int32_t kRasFirst = 28020;
constexpr std::int32_t kRasLast = 28039;

struct PortRange {
  std::int32_t first{20000};  // blocks start at first, first + 16, … and end at last at the latest
  std::int32_t last{29999};
  std::vector<std::int32_t> reserved{};  // a block never contains one of these
  bool operator==(const PortRange&) const = default;
};

// First port of the lowest block that holds no RAS port, no reserved port and no port in use, of whatever protocol and
// address, on any of these nodes. Nothing when there is none.
std::optional<std::int32_t> free_block(const PortRange& range, const std::vector<const NodeUse*>& nodes);

}  // namespace verl::core::fit
