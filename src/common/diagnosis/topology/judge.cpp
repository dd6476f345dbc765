#include "diagnosis/judge.h"

namespace verl::diagnosis {

void judge_topology(const NodeFacts&, const Policy&, Findings&) {}

void compare_topology(const Fleet&, const Policy&, Findings&) {}

}  // namespace verl::diagnosis
