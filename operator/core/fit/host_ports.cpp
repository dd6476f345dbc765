#include "operator/core/fit/host_ports.h"

#include <algorithm>

#include <fmt/format.h>

#include "operator/core/fit/fit.h"

namespace verl::core::fit {
namespace {

bool on_all_addresses(const api::HostPort& port) { return port.ip.empty() || port.ip == "0.0.0.0"; }

std::string_view protocol(const api::HostPort& port) {
  return port.protocol.empty() ? std::string_view("TCP") : std::string_view(port.protocol);
}

}  // namespace

const api::HostPort* conflicting(const std::vector<api::HostPort>& taken, const api::HostPort& wanted) {
  if (wanted.port <= 0) {
    return nullptr;
  }
  const auto other = std::find_if(taken.begin(), taken.end(), [&](const api::HostPort& port) {
    return port.port == wanted.port && protocol(port) == protocol(wanted) &&
           (on_all_addresses(port) || on_all_addresses(wanted) || port.ip == wanted.ip);
  });
  return other == taken.end() ? nullptr : &*other;
}

std::string shown_port(const api::HostPort& port) {
  return on_all_addresses(port) ? fmt::format("{} {}", protocol(port), port.port)
                                : fmt::format("{} {}:{}", protocol(port), port.ip, port.port);
}

std::optional<std::int32_t> free_block(const PortRange& range, const std::vector<const NodeUse*>& nodes) {
  if (range.first < 1 || range.last > 65535 || range.first > range.last) {
    return std::nullopt;
  }
  const std::int32_t blocks = (range.last - range.first + 1) / kBlockSize;
  std::vector<char> taken(static_cast<std::size_t>(blocks), 0);
  const auto take = [&](std::int32_t port) {
    const std::int32_t block = port < range.first ? -1 : (port - range.first) / kBlockSize;
    if (block >= 0 && block < blocks) {
      taken[static_cast<std::size_t>(block)] = 1;
    }
  };
  for (std::int32_t port = kRasFirst; port <= kRasLast; ++port) {
    take(port);
  }
  std::for_each(range.reserved.begin(), range.reserved.end(), take);
  for (const NodeUse* node : nodes) {
    for (const api::HostPort& port : node->ports) {
      take(port.port);
    }
  }
  const auto lowest = std::find(taken.begin(), taken.end(), 0);
  if (lowest == taken.end()) {
    return std::nullopt;
  }
  return range.first + static_cast<std::int32_t>(lowest - taken.begin()) * kBlockSize;
}

}  // namespace verl::core::fit
