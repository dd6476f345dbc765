// Plans and explanations as tables, JSON and YAML.
#pragma once

#include <string>

#include "kubectl-verl/plan.h"
#include "report/render.h"

namespace verl::cli {

std::string print_plan(const PlanAnswer& answer, report::Format format, const report::Style& style);

// What the operator wrote about the job comes first, then the plan for it now, then its history: conditions, attempts, nodes rejected
// for a while.
std::string print_explanation(const PlanAnswer& answer, report::Format format, const report::Style& style);

}  // namespace verl::cli
