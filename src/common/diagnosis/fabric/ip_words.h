// The words that iproute2 uses in text and in JSON, as interface facts.
#pragma once

#include <string_view>
#include <vector>

#include "diagnosis/fabric/store.h"

namespace verl::fabric {

bool is_operstate(std::string_view word);  // "UP", "DOWN", "UNKNOWN", ...

// A brief listing says only this: UP has a carrier and is up, DOWN has none, UNKNOWN is a driver that does not tell.
void set_operstate(Store& store, Interface& interface, std::string_view state, const Line& line);
void set_flags(Store& store, Interface& interface, const std::vector<std::string_view>& flags, const Line& line);
void set_link_type(Interface& interface, std::string_view type);         // "ether", "infiniband", "loopback"
void set_kind(Interface& interface, std::string_view kind);              // of -d: "bond", "vlan", "veth"; other words say nothing
void add_address(Store& store, Interface& interface, std::string_view address, const Line& line);
void set_master(Store& store, Interface& interface, std::string_view master, const Line& line);

}  // namespace verl::fabric
