#include "diagnosis/log/scan.h"

#include <algorithm>
#include <charconv>

#include "base/text.h"

namespace verl::log {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

}  // namespace

std::optional<std::string_view> after(std::string_view text, std::string_view phrase) {
  const std::size_t pos = text.find(phrase);
  if (pos == std::string_view::npos) return std::nullopt;
  return text.substr(pos + phrase.size());
}

std::string_view between(std::string_view text, std::string_view open, std::string_view close) {
  const auto rest = after(text, open);
  if (!rest) return {};
  return rest->substr(0, rest->find(close));
}

std::string_view word_at(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  text.remove_prefix(first);
  return text.substr(0, text.find_first_of(" \t,;"));
}

std::optional<std::int64_t> number_at(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return std::nullopt;
  text.remove_prefix(first);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  return value;
}

std::optional<std::int64_t> number_after(std::string_view text, std::string_view phrase) {
  const auto rest = after(text, phrase);
  return rest ? number_at(*rest) : std::nullopt;
}

std::optional<Address> address_at(std::string_view text) {
  text = trim(text);
  Address address;
  std::string_view port;
  if (text.starts_with('[')) {
    const std::size_t close = text.find(']');
    if (close == std::string_view::npos) return std::nullopt;
    address.host = std::string(text.substr(1, close - 1));
    text.remove_prefix(close + 1);
    if (text.starts_with(':')) port = text.substr(1);
  } else {
    text = text.substr(0, text.find_first_of(" \t,;>)'\""));
    const std::size_t open = text.find('<');
    if (open != std::string_view::npos) {
      address.host = std::string(text.substr(0, open));
      port = text.substr(open + 1);
    } else {
      const std::size_t colon = text.find(':');
      const bool one = colon != std::string_view::npos && text.find(':', colon + 1) == std::string_view::npos;
      address.host = std::string(one ? text.substr(0, colon) : text);
      if (one) port = text.substr(colon + 1);
    }
  }
  if (const std::size_t scope = address.host.find('%'); scope != std::string::npos) {
    address.scope = address.host.substr(scope + 1);
    address.host.resize(scope);
  }
  while (address.host.ends_with('.') || address.host.ends_with(':')) {
    if (address.host.ends_with("::")) break;
    address.host.pop_back();
  }
  if (address.host.empty()) return std::nullopt;
  address.port = number_at(port);
  if (address.port && (*address.port <= 0 || *address.port > 65535)) address.port.reset();
  return address;
}

bool is_ipv4(std::string_view text) {
  int dots = 0;
  int digits = 0;
  for (const char c : text) {
    if (c == '.') {
      if (digits == 0) return false;
      ++dots;
      digits = 0;
    } else if (is_digit(c) && digits < 3) {
      ++digits;
    } else {
      return false;
    }
  }
  return dots == 3 && digits > 0;
}

bool is_ipv6(std::string_view text) {
  return std::count(text.begin(), text.end(), ':') >= 2 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c == ':' || c == '.' || is_hex(c); });
}

bool is_link_local(std::string_view address) {
  if (address.starts_with("169.254.")) return true;
  if (address.size() < 5) return false;
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return lower(address[0]) == 'f' && lower(address[1]) == 'e' && std::string_view("89ab").find(lower(address[2])) != std::string_view::npos &&
         address.find(':') == 4;
}

bool is_loopback(std::string_view address) { return address == "::1" || (address.starts_with("127.") && is_ipv4(address)); }

}  // namespace verl::log
