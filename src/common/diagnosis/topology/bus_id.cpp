#include "diagnosis/topology/bus_id.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "diagnosis/topology/pci.h"

namespace verl::topology {
namespace {

std::optional<std::uint32_t> hex(std::string_view text, size_t most_digits) {
  if (text.empty() || text.size() > most_digits || text.starts_with("0x")) return std::nullopt;
  return trim(text).size() == text.size() ? parse_hex(text) : std::nullopt;
}

}  // namespace

std::optional<std::string> parse_bus_id(std::string_view text) {
  text = trim(text);
  if (text.size() > 20) return std::nullopt;
  const size_t dot = text.find('.');
  const auto function = dot == std::string_view::npos ? std::optional<std::uint32_t>(0) : hex(text.substr(dot + 1), 1);
  const std::vector<std::string_view> parts = split(text.substr(0, dot), ':');
  // Two parts without a function could be anything ("12:30").
  if (!function || parts.size() > 3 || parts.size() < 2 || (parts.size() == 2 && dot == std::string_view::npos)) return std::nullopt;
  const auto domain = parts.size() == 3 ? hex(parts[0], 8) : std::optional<std::uint32_t>(0);
  const auto bus = hex(parts[parts.size() - 2], 2);
  const auto device = hex(parts.back(), 2);
  if (!domain || !bus || !device || *function > 7 || *device > 31) return std::nullopt;
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", *domain, *bus, *device, *function);
}

std::string nvidia_bus_id(const std::string& bus_id) {
  const std::vector<std::string_view> parts = split(bus_id, ':');
  if (parts.size() != 3) return bus_id;
  std::string text = fmt::format("{:0>8}:{}:{}", parts[0], parts[1], parts[2]);
  std::transform(text.begin(), text.end(), text.begin(), [](char c) { return c >= 'a' && c <= 'f' ? static_cast<char>(c - 'a' + 'A') : c; });
  return text;
}

}  // namespace verl::topology
