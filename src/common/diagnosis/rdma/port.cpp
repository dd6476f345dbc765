#include "diagnosis/rdma/port.h"

#include "base/text.h"

namespace verl::rdma {
namespace {

constexpr std::int32_t kRoceHeaders = 96;  // GRH 40, UDP 8, BTH 12, XRC 4, AtomicETH 28, ICRC 4

}  // namespace

std::optional<std::string> state_name(std::string_view text) {
  text = trim(text);
  const size_t colon = text.find(": ");
  if (colon == std::string_view::npos || !parse_int(text.substr(0, colon))) return std::nullopt;
  const std::string_view name = text.substr(colon + 2);
  if (name.empty()) return std::nullopt;
  return std::string(name);
}

std::optional<std::int32_t> rate_gbps(std::string_view text) {
  text = trim(text);
  const size_t unit = text.find(" Gb/sec (");
  if (unit == std::string_view::npos || !text.ends_with(")")) return std::nullopt;
  const std::string_view number = text.substr(0, unit);
  const size_t point = number.find('.');
  if (point != std::string_view::npos && !parse_int(number.substr(point + 1))) return std::nullopt;
  const auto whole = parse_int<std::int32_t>(number.substr(0, point));
  if (!whole || *whole < 0) return std::nullopt;
  return whole;
}

std::int32_t roce_mtu(std::int32_t netdev_mtu) {
  for (const std::int32_t mtu : {4096, 2048, 1024, 512, 256}) {
    if (netdev_mtu >= mtu + kRoceHeaders) return mtu;
  }
  return 0;
}

std::int32_t netdev_mtu_for(std::int32_t active_mtu) { return active_mtu + kRoceHeaders; }

}  // namespace verl::rdma
