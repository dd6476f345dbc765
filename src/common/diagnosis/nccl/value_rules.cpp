#include "diagnosis/nccl/rule_tables.h"

namespace verl::nccl {

std::span<const diagnosis::Rule> value_rules() { return {}; }

}  // namespace verl::nccl
