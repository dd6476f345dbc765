#include "diagnosis/rule.h"

namespace verl::diagnosis {

std::span<const Rule> kubernetes_rules() { return {}; }

}  // namespace verl::diagnosis
