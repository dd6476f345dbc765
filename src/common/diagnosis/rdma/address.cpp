#include "diagnosis/rdma/address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <string>

#include "base/text.h"

namespace verl::rdma {

std::optional<Address> parse_address(std::string_view text) {
  Address address;
  const size_t slash = text.find('/');
  if (slash != std::string_view::npos) {
    address.prefix = parse_int<std::int32_t>(text.substr(slash + 1));
    if (!address.prefix || *address.prefix < 0) return std::nullopt;
    text = text.substr(0, slash);
  }
  text = text.substr(0, text.find('%'));
  if (text.size() > 45) return std::nullopt;
  const std::string own(text);
  if (inet_pton(AF_INET, own.c_str(), address.bytes.data()) == 1) {
    if (address.prefix.value_or(0) > 32) return std::nullopt;
    return address;
  }
  address.family = AddressFamily::Inet6;
  if (inet_pton(AF_INET6, own.c_str(), address.bytes.data()) != 1 || address.prefix.value_or(0) > 128) return std::nullopt;
  return address;
}

bool is_loopback(const Address& address) {
  if (address.family == AddressFamily::Inet4) return address.bytes[0] == 127;
  return std::all_of(address.bytes.begin(), address.bytes.begin() + 15, [](std::uint8_t byte) { return byte == 0; }) && address.bytes[15] == 1;
}

bool is_link_local(const Address& address) {
  if (address.family == AddressFamily::Inet4) return address.bytes[0] == 169 && address.bytes[1] == 254;
  return address.bytes[0] == 0xFE && (address.bytes[1] & 0xC0) == 0x80;
}

bool in_network(const Address& address, const Address& network) {
  if (address.family != network.family) return false;
  const std::int32_t all = address.family == AddressFamily::Inet4 ? 32 : 128;
  std::int32_t left = network.prefix.value_or(all);
  for (size_t i = 0; left > 0; ++i, left -= 8) {
    const auto mask = static_cast<std::uint8_t>(left >= 8 ? 0xFF : 0xFF << (8 - left));
    if ((address.bytes[i] & mask) != (network.bytes[i] & mask)) return false;
  }
  return true;
}

}  // namespace verl::rdma
