// PCI devices as sysfs names them, and how near two of them are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace verl::topology {

struct PciDevice {
  std::string address{};           // "0000:9b:00.0"
  std::uint32_t vendor{0};         // 0x10de
  std::uint32_t device_class{0};   // 0x030200: class, subclass, programming interface
  std::int32_t numa_node{-1};      // -1: the firmware does not say
  std::vector<std::string> path{};  // root bus first, the device last: {"pci0000:15", "0000:15:01.0", "0000:9b:00.0"}
  bool operator==(const PciDevice&) const = default;
};

constexpr std::uint32_t kNvidia = 0x10DE;

bool is_gpu(const PciDevice& device);      // NVIDIA 3D controller (0x0302) or display controller (0x0300); NVSwitch is neither
bool is_network(const PciDevice& device);  // Ethernet (0x0200) or InfiniBand (0x0207)

// "0x10de\n" -> 0x10de
std::optional<std::uint32_t> parse_hex(std::string_view text);

// "../../../devices/pci0000:15/0000:15:01.0/0000:9b:00.0" -> the path; empty for other text.
std::vector<std::string> bridge_path(std::string_view link);

// NCCL's words. Same switch: at most one bridge between. Switches: several, no host bridge. HostBridge: the same root
// complex. Node: same NUMA node. System: across sockets. Unknown: not to be told from what is known.
enum class Distance { SameSwitch, Switches, HostBridge, Node, System, Unknown };

Distance distance(const PciDevice& a, const PciDevice& b);

std::string_view to_string(Distance distance);  // PIX, PXB, PHB, NODE, SYS, unknown

}  // namespace verl::topology
