#include "diagnosis/nccl/rule_tables.h"

namespace verl::nccl {

std::span<const diagnosis::Rule> framework_rules() { return {}; }

}  // namespace verl::nccl
