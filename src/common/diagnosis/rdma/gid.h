// The GID table of a RoCE port, and the entry NCCL would take from it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

enum class AddressFamily { Inet4, Inet6 };

// NCCL's own choice for a RoCE port when NCCL_IB_GID_INDEX is not set (src/transport/net_ib/connect.cc, without
// NCCL_IB_ADDR_RANGE). It ends at index 0 when nothing fits, without an error, so ask usable() about what it took.
std::int32_t nccl_gid_index(const std::vector<GidEntry>& table, AddressFamily family = AddressFamily::Inet4);

// A routable RoCE v2 address: neither empty nor link-local.
bool usable(const GidEntry& entry);

const GidEntry* entry_at(const std::vector<GidEntry>& table, std::int32_t index);

}  // namespace verl::rdma
