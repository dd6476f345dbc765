#include "diagnosis/judge.h"

namespace verl::diagnosis {

void judge_time(const NodeFacts&, const Policy&, Findings&) {}

void compare_time(const Fleet&, const Policy&, Findings&) {}

}  // namespace verl::diagnosis
