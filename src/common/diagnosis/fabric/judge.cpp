#include "diagnosis/judge.h"

namespace verl::diagnosis {

void judge_fabric(const NodeFacts&, const Policy&, Findings&) {}

void compare_fabric(const Fleet&, const Policy&, Findings&) {}

}  // namespace verl::diagnosis
