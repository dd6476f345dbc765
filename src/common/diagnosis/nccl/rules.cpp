#include "diagnosis/rule.h"

namespace verl::diagnosis {

std::span<const Rule> nccl_rules() { return {}; }

}  // namespace verl::diagnosis
