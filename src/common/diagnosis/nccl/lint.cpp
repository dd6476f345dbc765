#include "diagnosis/nccl/lint.h"

namespace verl::nccl {

void lint_settings(const diagnosis::NodeFacts&, const diagnosis::Policy&, diagnosis::Findings&) {}

}  // namespace verl::nccl
