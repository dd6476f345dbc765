// What an entry of a list of names may be besides a name.
#pragma once

#include <string>
#include <string_view>

#include "diagnosis/fabric/facts.h"

namespace verl::nccl {

// An IPv4 or IPv6 address, a network ("192.0.2.0/24", "192.0.2."), or a URL.
bool looks_like_address(std::string_view text);

// The interface of the node whose address lies in that network, is that address, or begins with that text; empty: none is known.
std::string interface_with(const fabric::Facts& fabric, std::string_view address);

// Does one address lie in the network of the other? Nothing can be told without a prefix length: false.
bool same_network(std::string_view a, std::string_view b);

}  // namespace verl::nccl
