#include "diagnosis/judge.h"

namespace verl::diagnosis {

void judge_kubernetes(const NodeFacts&, const Policy&, Findings&) {}

void compare_kubernetes(const Fleet&, const Policy&, Findings&) {}

}  // namespace verl::diagnosis
