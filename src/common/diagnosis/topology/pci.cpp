#include "diagnosis/topology/pci.h"

#include <algorithm>
#include <charconv>

#include "base/broken_invariant.h"
#include "base/text.h"

namespace verl::topology {

bool is_gpu(const PciDevice& device) {
  const std::uint32_t kind = device.device_class >> 8;
  return device.vendor == kNvidia && (kind == 0x0302 || kind == 0x0300);
}

bool is_network(const PciDevice& device) {
  const std::uint32_t kind = device.device_class >> 8;
  return kind == 0x0200 || kind == 0x0207;
}

std::optional<std::uint32_t> parse_hex(std::string_view text) {
  text = trim(text);
  if (text.starts_with("0x")) text.remove_prefix(2);
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string> bridge_path(std::string_view link) {
  std::vector<std::string> path;
  for (const std::string_view part : split(link, '/')) {
    const bool root_bus = part.starts_with("pci") && part.find(':') != std::string_view::npos;
    // Some virtual hosts hang the root bus below other devices; everything before it says nothing about distance.
    if (root_bus) path.clear();
    if (root_bus || !path.empty()) path.emplace_back(part);
  }
  return path;
}

Distance distance(const PciDevice& a, const PciDevice& b) {
  size_t shared = 0;
  while (shared < a.path.size() && shared < b.path.size() && a.path[shared] == b.path[shared]) ++shared;
  // path[0] is the root bus: sharing only that means the way leads over the host bridge.
  if (shared >= 2) {
    const size_t bridges = (a.path.size() - shared) + (b.path.size() - shared);
    return bridges <= 4 ? Distance::SameSwitch : Distance::Switches;
  }
  if (shared == 1) return Distance::HostBridge;
  if (a.numa_node < 0 || b.numa_node < 0) return Distance::Unknown;
  return a.numa_node == b.numa_node ? Distance::Node : Distance::System;
}

std::string_view to_string(Distance distance) {
  switch (distance) {
    case Distance::SameSwitch: return "PIX";
    case Distance::Switches: return "PXB";
    case Distance::HostBridge: return "PHB";
    case Distance::Node: return "NODE";
    case Distance::System: return "SYS";
    case Distance::Unknown: return "unknown";
  }
  broken_invariant("a distance outside its enumeration");
}

}  // namespace verl::topology
