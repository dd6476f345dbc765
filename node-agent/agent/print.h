// Prints one node's report for people and programs. Knows api::NodeReadiness and nothing of how it came about.
#pragma once

#include <string>
#include <string_view>

#include "api/node_readiness.h"

namespace verl::agent {

enum class Format { Table, Json, Yaml };

struct PrintStyle {
  Format format{Format::Table};
  bool ascii{false};
  bool colour{false};
};

std::string print_report(const api::NodeReadiness& report, const PrintStyle& style);

// The status as the API takes it; `conditions` only those of the agent.
std::string status_json(const api::NodeReadinessStatus& status);

}  // namespace verl::agent
