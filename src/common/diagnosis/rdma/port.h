// What sysfs says about an RDMA port, in words and numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace verl::rdma {

// "4: ACTIVE" -> "ACTIVE"; "5: LinkUp" -> "LinkUp"; nothing for other text. Serves state and phys_state.
std::optional<std::string> state_name(std::string_view text);

// "400 Gb/sec (4X NDR)" -> 400, "2.5 Gb/sec (1X SDR)" -> 2 (whole gigabits, cut). The rate of a port that is down is a
// default and means nothing.
std::optional<std::int32_t> rate_gbps(std::string_view text);

// The MTU a RoCE port can have at most over a network interface of `netdev_mtu` bytes: the largest of 256 ... 4096 that
// fits beside 96 bytes of headers (Linux include/rdma/ib_addr.h, iboe_get_mtu); 0 when none does.
std::int32_t roce_mtu(std::int32_t netdev_mtu);

// The smallest interface MTU that allows it: 4096 -> 4192.
std::int32_t netdev_mtu_for(std::int32_t active_mtu);

}  // namespace verl::rdma
