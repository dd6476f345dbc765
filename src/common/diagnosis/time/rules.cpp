#include "diagnosis/rule.h"

namespace verl::diagnosis {

std::span<const Rule> time_rules() { return {}; }

}  // namespace verl::diagnosis
