// The GID table of a RoCE port, and the entry NCCL would take from it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnosis/rdma/address.h"

namespace verl::rdma {

using Gid = std::array<std::uint8_t, 16>;

struct GidEntry {
  std::int32_t index{0};
  Gid gid{};
  std::string type{};  // "RoCE v2", "IB/RoCE v1"; empty when the kernel would not say (another network namespace)
  bool operator==(const GidEntry&) const = default;
};

// Eight groups of four hex digits, as sysfs writes them.
std::optional<Gid> parse_gid(std::string_view text);

bool is_ipv4(const Gid& gid);         // ::ffff:a.b.c.d
bool is_zero(const Gid& gid);
bool is_link_local(const Gid& gid);   // fe80::/64

// What NCCL looks for in the table.
struct GidWish {
  AddressFamily family{AddressFamily::Inet4};  // NCCL_IB_ADDR_FAMILY
  std::int32_t roce_version{2};                // NCCL_IB_ROCE_VERSION_NUM
  std::optional<Address> range{};              // NCCL_IB_ADDR_RANGE, of that family
};

// NCCL's own choice for a RoCE port when NCCL_IB_GID_INDEX is not set (src/transport/net_ib/connect.cc). It ends at index 0
// when nothing fits, without an error, so ask usable() about what it took.
std::int32_t nccl_gid_index(const std::vector<GidEntry>& table, const GidWish& wish);
std::int32_t nccl_gid_index(const std::vector<GidEntry>& table, AddressFamily family = AddressFamily::Inet4);

AddressFamily family_of(const Gid& gid);  // Inet4 for ::ffff:a.b.c.d and its multicast form ff0e::ffff:a.b.c.d
std::string to_string(const Gid& gid);    // "192.0.2.7" for a mapped IPv4 address, else as IPv6

// A routable RoCE v2 address: neither empty nor link-local.
bool usable(const GidEntry& entry);

const GidEntry* entry_at(const std::vector<GidEntry>& table, std::int32_t index);

}  // namespace verl::rdma
