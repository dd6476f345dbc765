// The two scripts of incontainer/, embedded verbatim at build time.
#pragma once

#include <string_view>

namespace verl::core {

extern const std::string_view kRayNodeScript;     // incontainer/ray_node.sh
extern const std::string_view kDriverGateScript;  // incontainer/driver_gate.py

}  // namespace verl::core
