#include "diagnosis/rule.h"

namespace verl::diagnosis {

std::span<const Rule> topology_rules() { return {}; }

}  // namespace verl::diagnosis
