#include "diagnosis/judge.h"

namespace verl::diagnosis {

void judge_benchmark(const NodeFacts&, const Policy&, Findings&) {}

void compare_benchmark(const Fleet&, const Policy&, Findings&) {}

}  // namespace verl::diagnosis
