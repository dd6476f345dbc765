#include "diagnosis/rule.h"

namespace verl::diagnosis {

std::span<const Rule> log_rules() { return {}; }

}  // namespace verl::diagnosis
