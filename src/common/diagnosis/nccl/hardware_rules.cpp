#include "diagnosis/nccl/rule_tables.h"

namespace verl::nccl {

std::span<const diagnosis::Rule> hardware_rules() { return {}; }

}  // namespace verl::nccl
