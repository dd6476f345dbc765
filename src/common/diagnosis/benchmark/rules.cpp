#include "diagnosis/rule.h"

namespace verl::diagnosis {

std::span<const Rule> benchmark_rules() { return {}; }

}  // namespace verl::diagnosis
