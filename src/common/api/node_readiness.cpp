#include "api/node_readiness.h"

#include "base/broken_invariant.h"

namespace verl::api {

std::string_view to_string(CheckAction action) {
  switch (action) {
    case CheckAction::Block: return "Block";
    case CheckAction::Warn: return "Warn";
    case CheckAction::Off: return "Off";
  }
  broken_invariant("a CheckAction outside its enumeration");
}

}  // namespace verl::api
