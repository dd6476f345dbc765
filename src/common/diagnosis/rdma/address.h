// IP addresses as text from tools, and which network they are in. Parsing and comparing only; routes are not known here.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace verl::rdma {

enum class AddressFamily { Inet4, Inet6 };

struct Address {
  AddressFamily family{AddressFamily::Inet4};
  std::array<std::uint8_t, 16> bytes{};        // IPv4 in the first four
  std::optional<std::int32_t> prefix{};        // bits of the network; nothing: not said
  bool operator==(const Address&) const = default;
};

// "192.0.2.31/24", "fe80::1%eth0/64", "2001:db8::1"; nothing for other text.
std::optional<Address> parse_address(std::string_view text);

bool is_loopback(const Address& address);
bool is_link_local(const Address& address);  // fe80::/10 and 169.254/16

// Does the network of `network` (all its bits when no prefix is said) hold the address?
bool in_network(const Address& address, const Address& network);

}  // namespace verl::rdma
