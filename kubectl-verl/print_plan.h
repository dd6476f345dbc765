// Plans and explanations as tables, JSON and YAML.
#pragma once

#include <string>

#include "kubectl-verl/plan.h"
#include "report/render.h"

namespace verl::cli {

std::string print_plan(const PlanAnswer& answer, report::Format format, const report::Style& style);

// The same and the job's history: conditions, attempts, nodes rejected for a while.
std::string print_explanation(const PlanAnswer& answer, report::Format format, const report::Style& style);

}  // namespace verl::cli
