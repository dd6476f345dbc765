// From a snapshot and the verdicts of the decision core to what a readiness report is made from.
#pragma once

#include "kubectl-verl/source.h"
#include "report/readiness.h"

namespace verl::cli {

report::ReportInput report_input(const Source& source);

}  // namespace verl::cli
