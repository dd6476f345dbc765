#include "diagnosis/judge.h"

namespace verl::diagnosis {

void judge_log(const NodeFacts&, const Policy&, Findings&) {}

void compare_log(const Fleet&, const Policy&, Findings&) {}

}  // namespace verl::diagnosis
