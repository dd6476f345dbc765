#include "diagnosis/rdma/gid.h"

#include <gtest/gtest.h>

namespace verl::rdma {
namespace {

GidEntry entry(std::int32_t index, std::string_view gid, std::string_view type) {
  return {.index = index, .gid = parse_gid(gid).value_or(Gid{}), .type = std::string(type)};
}

const std::vector<GidEntry> kTable{
    entry(0, "fe80:0000:0000:0000:0ec4:7aff:fe11:2201", "IB/RoCE v1"), entry(1, "fe80:0000:0000:0000:0ec4:7aff:fe11:2201", "RoCE v2"),
    entry(2, "0000:0000:0000:0000:0000:ffff:0a07:0105", "IB/RoCE v1"), entry(3, "0000:0000:0000:0000:0000:ffff:0a07:0105", "RoCE v2"),
    entry(4, "0000:0000:0000:0000:0000:ffff:0a09:0105", "IB/RoCE v1"), entry(5, "0000:0000:0000:0000:0000:ffff:0a09:0105", "RoCE v2"),
    entry(6, "2001:0db8:0000:0000:0000:0000:0000:0105", "IB/RoCE v1"), entry(7, "2001:0db8:0000:0000:0000:0000:0000:0105", "RoCE v2")};

std::int32_t choice(AddressFamily family, std::int32_t roce_version, std::string_view range) {
  GidWish wish;
  wish.family = family;
  wish.roce_version = roce_version;
  if (!range.empty()) wish.range = parse_address(range);
  return nccl_gid_index(kTable, wish);
}

TEST(GidChoice, FollowsFamilyVersionAndRange) {
  EXPECT_EQ(choice(AddressFamily::Inet4, 2, ""), 3);
  EXPECT_EQ(choice(AddressFamily::Inet4, 1, ""), 2);
  EXPECT_EQ(choice(AddressFamily::Inet4, 2, "10.9.0.0/16"), 5);
  EXPECT_EQ(choice(AddressFamily::Inet4, 2, "10.7.1.128/25"), 0);
  EXPECT_EQ(choice(AddressFamily::Inet4, 2, "0.0.0.0/0"), 3);
  EXPECT_EQ(choice(AddressFamily::Inet6, 2, ""), 7);
  EXPECT_EQ(choice(AddressFamily::Inet6, 2, "2001:db8::/32"), 7);
}

TEST(GidText, ShowsMappedAddressesAsIPv4) {
  EXPECT_EQ(to_string(kTable[3].gid), "10.7.1.5");
  EXPECT_EQ(to_string(kTable[7].gid), "2001:db8::105");
}

TEST(Address, ReadsWhatToolsPrint) {
  EXPECT_EQ(parse_address("192.0.2.31/24")->prefix, 24);
  EXPECT_FALSE(parse_address("192.0.2.31")->prefix);
  EXPECT_EQ(parse_address("fe80::1%ens1/64")->family, AddressFamily::Inet6);
  for (const std::string_view text : {"", "192.0.2", "192.0.2.1/33", "::1/129", "192.0.2.1/", "192.0.2.1/-1", "ens1"}) EXPECT_FALSE(parse_address(text)) << text;
  EXPECT_TRUE(is_loopback(*parse_address("127.8.0.1/8")));
  EXPECT_TRUE(is_loopback(*parse_address("::1/128")));
  EXPECT_FALSE(is_loopback(*parse_address("::2")));
  EXPECT_TRUE(is_link_local(*parse_address("fe80::5/64")));
  EXPECT_TRUE(is_link_local(*parse_address("169.254.3.1/16")));
  EXPECT_FALSE(is_link_local(*parse_address("2001:db8::1")));
  EXPECT_TRUE(in_network(*parse_address("198.51.100.9"), *parse_address("198.51.100.10/30")));
  EXPECT_FALSE(in_network(*parse_address("198.51.100.13"), *parse_address("198.51.100.10/30")));
  EXPECT_FALSE(in_network(*parse_address("198.51.100.9"), *parse_address("2001:db8::/0")));
}

}  // namespace
}  // namespace verl::rdma
