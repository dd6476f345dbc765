// Small readers of values inside a message: what stands after a phrase, a number, a socket address as NCCL prints it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace verl::log {

// What follows the first `phrase`; nothing when it is not there.
std::optional<std::string_view> after(std::string_view text, std::string_view phrase);

// What stands between the first `open` and the next `close` (to the end when there is none); empty when `open` is not there.
std::string_view between(std::string_view text, std::string_view open, std::string_view close);

// Up to the first blank, comma or semicolon.
std::string_view word_at(std::string_view text);

// A decimal integer at the beginning, blanks before it skipped, whatever follows; nothing when there is none or it is out of range.
std::optional<std::int64_t> number_at(std::string_view text);

// number_at() of what follows the phrase.
std::optional<std::int64_t> number_after(std::string_view text, std::string_view phrase);

struct Address {
  std::string host{};  // "192.0.2.31", "fe80::1" without scope, a name
  std::string scope{}; // "eth0" of fe80::1%eth0
  std::optional<std::int64_t> port{};
  bool operator==(const Address&) const = default;
};

// "192.0.2.31<4711>", "fe80::1%eth0<0>", "[2001:db8::1]:4711", "192.0.2.31:4711": ends at a blank, comma or '>'. A port of 0 is none.
std::optional<Address> address_at(std::string_view text);

bool is_ipv4(std::string_view text);
bool is_ipv6(std::string_view text);  // without scope
bool is_link_local(std::string_view address);  // 169.254.0.0/16, fe80::/10
bool is_loopback(std::string_view address);    // 127.0.0.0/8, ::1

}  // namespace verl::log
