#include "diagnosis/rdma/gid.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace verl::rdma {
namespace {

int version(const GidEntry& entry) {
  if (entry.type == "RoCE v2") return 2;
  return entry.type.empty() ? 0 : 1;
}

bool is_ipv4_multicast(const Gid& gid) {
  return gid[0] == 0xFF && gid[1] == 0x0E && std::all_of(gid.begin() + 2, gid.begin() + 10, [](std::uint8_t byte) { return byte == 0; }) &&
         gid[10] == 0xFF && gid[11] == 0xFF;
}

Address address_of(const Gid& gid) {
  Address address;
  address.family = family_of(gid);
  if (address.family == AddressFamily::Inet4) {
    std::copy(gid.begin() + 12, gid.end(), address.bytes.begin());
  } else {
    address.bytes = gid;
  }
  return address;
}

bool valid(const Gid& gid) { return !is_zero(gid) && !is_link_local(gid); }

}  // namespace

std::optional<Gid> parse_gid(std::string_view text) {
  const auto groups = split(trim(text), ':');
  if (groups.size() != 8) return std::nullopt;
  Gid gid{};
  for (size_t i = 0; i < groups.size(); ++i) {
    std::uint16_t value = 0;
    const std::string_view group = groups[i];
    const auto [end, error] = std::from_chars(group.data(), group.data() + group.size(), value, 16);
    if (error != std::errc{} || end != group.data() + group.size() || group.size() != 4) return std::nullopt;
    gid[2 * i] = static_cast<std::uint8_t>(value >> 8);
    gid[2 * i + 1] = static_cast<std::uint8_t>(value & 0xFF);
  }
  return gid;
}

bool is_ipv4(const Gid& gid) {
  return std::all_of(gid.begin(), gid.begin() + 10, [](std::uint8_t byte) { return byte == 0; }) && gid[10] == 0xFF && gid[11] == 0xFF;
}

bool is_zero(const Gid& gid) {
  return std::all_of(gid.begin(), gid.end(), [](std::uint8_t byte) { return byte == 0; });
}

bool is_link_local(const Gid& gid) {
  return gid[0] == 0xFE && gid[1] == 0x80 && std::all_of(gid.begin() + 2, gid.begin() + 8, [](std::uint8_t byte) { return byte == 0; });
}

const GidEntry* entry_at(const std::vector<GidEntry>& table, std::int32_t index) {
  const auto found = std::find_if(table.begin(), table.end(), [&](const GidEntry& entry) { return entry.index == index; });
  return found == table.end() ? nullptr : &*found;
}

AddressFamily family_of(const Gid& gid) { return is_ipv4(gid) || is_ipv4_multicast(gid) ? AddressFamily::Inet4 : AddressFamily::Inet6; }

std::string to_string(const Gid& gid) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const bool four = is_ipv4(gid);
  inet_ntop(four ? AF_INET : AF_INET6, gid.data() + (four ? 12 : 0), text.data(), static_cast<socklen_t>(text.size()));
  return text.data();
}

std::int32_t nccl_gid_index(const std::vector<GidEntry>& table, AddressFamily family) {
  GidWish wish;
  wish.family = family;
  return nccl_gid_index(table, wish);
}

std::int32_t nccl_gid_index(const std::vector<GidEntry>& table, const GidWish& wish) {
  const GidEntry empty{};
  const GidEntry* current = entry_at(table, 0);
  if (current == nullptr) current = &empty;
  std::vector<const GidEntry*> candidates;
  for (const GidEntry& entry : table) {
    if (entry.index > 0) candidates.push_back(&entry);
  }
  std::sort(candidates.begin(), candidates.end(), [](const GidEntry* a, const GidEntry* b) { return a->index < b->index; });
  for (const GidEntry* candidate : candidates) {
    const bool fits = family_of(candidate->gid) == wish.family && (!wish.range || in_network(address_of(candidate->gid), *wish.range));
    if (!fits) continue;
    if (family_of(candidate->gid) != family_of(current->gid)) {
      current = candidate;
    } else if (valid(candidate->gid) && (version(*candidate) != version(*current) || !valid(current->gid)) &&
               version(*candidate) == wish.roce_version) {
      current = candidate;
    }
  }
  return current->index;
}

bool usable(const GidEntry& entry) { return version(entry) == 2 && valid(entry.gid); }

}  // namespace verl::rdma
