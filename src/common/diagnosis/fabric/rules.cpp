#include "diagnosis/rule.h"

namespace verl::diagnosis {

std::span<const Rule> fabric_rules() { return {}; }

}  // namespace verl::diagnosis
