#include <gtest/gtest.h>

#include "diagnosis/rdma/gid.h"
#include "diagnosis/rdma/port.h"

namespace verl::rdma {
namespace {

GidEntry entry(std::int32_t index, const char* gid, const char* type) { return {.index = index, .gid = *parse_gid(gid), .type = type}; }

constexpr const char* kLinkLocal = "fe80:0000:0000:0000:0e42:a1ff:fe00:0001";
constexpr const char* kIpv4 = "0000:0000:0000:0000:0000:ffff:0a64:0001";
constexpr const char* kIpv6 = "fd00:0000:0000:0000:0000:0000:0000:0001";

TEST(RdmaPort, StatesHaveANumberAndAName) {
  EXPECT_EQ(state_name("4: ACTIVE\n"), "ACTIVE");
  EXPECT_EQ(state_name("4: PortConfigurationTraining"), "PortConfigurationTraining");
  for (const char* bad : {"", "ACTIVE", "4:", "x: ACTIVE", "4: "}) EXPECT_FALSE(state_name(bad)) << bad;
}

TEST(RdmaPort, RatesAreWholeGigabits) {
  EXPECT_EQ(rate_gbps("400 Gb/sec (4X NDR)\n"), 400);
  EXPECT_EQ(rate_gbps("200 Gb/sec (2X NDR)"), 200);
  EXPECT_EQ(rate_gbps("2.5 Gb/sec (1X SDR)"), 2);
  EXPECT_EQ(rate_gbps("10 Gb/sec (4X)"), 10);
  for (const char* bad : {"", "400", "-1 Gb/sec (4X NDR)", "x Gb/sec (4X NDR)", "400 Gb/sec (4X NDR", "2.x Gb/sec (1X SDR)"}) {
    EXPECT_FALSE(rate_gbps(bad)) << bad;
  }
}

TEST(RdmaPort, RoceMtuLeavesRoomForHeaders) {
  const std::pair<std::int32_t, std::int32_t> rows[] = {{1500, 1024}, {4191, 2048}, {4192, 4096}, {9000, 4096}, {2144, 2048}, {351, 0}, {352, 256}};
  for (const auto& [netdev, active] : rows) EXPECT_EQ(roce_mtu(netdev), active) << netdev;
  EXPECT_EQ(roce_mtu(netdev_mtu_for(4096)), 4096);
}

TEST(Gid, IsEightGroups) {
  EXPECT_TRUE(is_ipv4(*parse_gid(kIpv4)));
  EXPECT_TRUE(is_link_local(*parse_gid(kLinkLocal)));
  EXPECT_FALSE(is_ipv4(*parse_gid(kIpv6)));
  for (const char* bad : {"", "::", "fe80:0:0:0:0:0:0:1", "gggg:0000:0000:0000:0000:0000:0000:0001"}) EXPECT_FALSE(parse_gid(bad)) << bad;
}

TEST(Gid, NcclTakesTheFirstRoutableVersionTwo) {
  const std::vector<GidEntry> table{entry(0, kLinkLocal, "IB/RoCE v1"), entry(1, kLinkLocal, "RoCE v2"), entry(2, kIpv4, "IB/RoCE v1"), entry(3, kIpv4, "RoCE v2")};
  EXPECT_EQ(nccl_gid_index(table), 3);
  EXPECT_TRUE(usable(*entry_at(table, 3)));
}

TEST(Gid, NcclKeepsAnUnusableEntryWithoutAnError) {
  const std::vector<GidEntry> only_link_local{entry(0, kLinkLocal, "IB/RoCE v1"), entry(1, kLinkLocal, "RoCE v2")};
  EXPECT_EQ(nccl_gid_index(only_link_local), 0);
  EXPECT_FALSE(usable(*entry_at(only_link_local, 0)));
  const std::vector<GidEntry> only_ipv6{entry(0, kLinkLocal, "IB/RoCE v1"), entry(1, kIpv6, "RoCE v2")};
  EXPECT_EQ(nccl_gid_index(only_ipv6), 0);
  EXPECT_EQ(nccl_gid_index(only_ipv6, AddressFamily::Inet6), 1);
  EXPECT_EQ(nccl_gid_index({}), 0);
}

}  // namespace
}  // namespace verl::rdma
