// GIDs in all the ways tools print them, and the type beside them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "diagnosis/rdma/gid.h"

namespace verl::fabric {

// "fe80:0000:...", "fe80::5eff:fe00:1", "::ffff:192.0.2.7"; nothing for other text.
std::optional<rdma::Gid> gid_of(std::string_view text);

// "192.0.2.7" of an IPv4-mapped GID; empty for others.
std::string ipv4_of(const rdma::Gid& gid);

// "v2", "RoCE v2", "RoCEv2" -> "RoCE v2"; "v1", "IB/RoCE v1" -> "IB/RoCE v1", as sysfs writes them; empty for other text.
std::string gid_type(std::string_view text);

}  // namespace verl::fabric
