#include "diagnosis/judge.h"

namespace verl::diagnosis {

void judge_nccl(const NodeFacts&, const Policy&, Findings&) {}

void compare_nccl(const Fleet&, const Policy&, Findings&) {}

}  // namespace verl::diagnosis
