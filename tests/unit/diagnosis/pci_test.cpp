#include "diagnosis/topology/pci.h"

#include <gtest/gtest.h>

namespace verl::topology {
namespace {

PciDevice at(const char* link, std::int32_t numa) { return {.address = "x", .numa_node = numa, .path = bridge_path(link)}; }

TEST(Pci, KnowsWhatIsAGpu) {
  EXPECT_TRUE(is_gpu({.vendor = kNvidia, .device_class = 0x030200}));
  EXPECT_TRUE(is_gpu({.vendor = kNvidia, .device_class = 0x030000}));
  EXPECT_FALSE(is_gpu({.vendor = kNvidia, .device_class = 0x068000}));  // NVSwitch
  EXPECT_FALSE(is_gpu({.vendor = 0x8086, .device_class = 0x030000}));
  EXPECT_EQ(parse_hex("0x10de\n"), 0x10DEu);
  EXPECT_FALSE(parse_hex("0x"));
  EXPECT_FALSE(parse_hex("12z"));
}

TEST(Pci, PathsBeginAtTheRootBus) {
  EXPECT_EQ(bridge_path("../../../devices/pci0000:15/0000:15:01.0/0000:9b:00.0"),
            (std::vector<std::string>{"pci0000:15", "0000:15:01.0", "0000:9b:00.0"}));
  EXPECT_TRUE(bridge_path("../../../devices/virtual/x").empty());
}

TEST(Pci, DistancesAreThoseOfNccl) {
  const PciDevice gpu = at("d/pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:00.0/0000:18:00.0", 0);
  EXPECT_EQ(distance(gpu, at("d/pci0000:15/0000:15:01.0/0000:16:00.0/0000:17:01.0/0000:19:00.0", 0)), Distance::SameSwitch);
  EXPECT_EQ(distance(gpu, at("d/pci0000:15/0000:15:01.0/0000:1a:00.0/0000:1b:00.0/0000:1c:00.0/0000:1d:00.0", 0)), Distance::Switches);
  EXPECT_EQ(distance(gpu, at("d/pci0000:15/0000:15:02.0/0000:20:00.0", 0)), Distance::HostBridge);
  EXPECT_EQ(distance(gpu, at("d/pci0000:35/0000:35:01.0/0000:36:00.0", 0)), Distance::Node);
  EXPECT_EQ(distance(gpu, at("d/pci0000:a5/0000:a5:01.0/0000:a6:00.0", 1)), Distance::System);
  EXPECT_EQ(distance(gpu, at("d/pci0000:a5/0000:a5:01.0/0000:a6:00.0", -1)), Distance::Unknown);
}

}  // namespace
}  // namespace verl::topology
