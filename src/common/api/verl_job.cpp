#include "api/verl_job.h"

#include "base/broken_invariant.h"

namespace verl::api {

std::string_view to_string(TopologyMode mode) {
  switch (mode) {
    case TopologyMode::Required: return "Required";
    case TopologyMode::Preferred: return "Preferred";
  }
  broken_invariant("a TopologyMode outside its enumeration");
}

std::string_view to_string(Transport transport) {
  switch (transport) {
    case Transport::Any: return "Any";
    case Transport::RoCE: return "RoCE";
    case Transport::InfiniBand: return "InfiniBand";
    case Transport::TCP: return "TCP";
  }
  broken_invariant("a Transport outside its enumeration");
}

std::string_view to_string(RayAuthentication authentication) {
  switch (authentication) {
    case RayAuthentication::Token: return "Token";
    case RayAuthentication::Disabled: return "Disabled";
  }
  broken_invariant("a RayAuthentication outside its enumeration");
}

std::string_view to_string(NumaMode mode) {
  switch (mode) {
    case NumaMode::Required: return "Required";
    case NumaMode::Preferred: return "Preferred";
    case NumaMode::None: return "None";
  }
  broken_invariant("a NumaMode outside its enumeration");
}

}  // namespace verl::api
