// One node's report for people and programs, laid out as the report of a cluster is. Knows api::NodeReadiness and nothing of how it
// came about.
#pragma once

#include <string>

#include "api/node_readiness.h"
#include "report/render.h"

namespace verl::agent {

// The findings, as the report judges them.
report::NodeLine line_of(const api::NodeReadiness& report);

std::string print_report(const api::NodeReadiness& report, report::Format format, const report::Style& style);

// The status as the API takes it; `conditions` only those of the agent.
std::string status_json(const api::NodeReadinessStatus& status);

}  // namespace verl::agent
