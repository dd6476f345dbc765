// `verl-node-agent check`, `record` and `checks`: one node, no cluster.
#pragma once

#include <memory>
#include <string>

#include "api/node_readiness.h"
#include "base/result.h"
#include "host/host.h"
#include "node-agent/agent/print.h"

namespace verl::agent {

constexpr int kExitWell = 0;
constexpr int kExitNoReport = 1;
constexpr int kExitUsage = 64;
constexpr int kExitFindings = 79;

enum class FailOn { Warning, Error };

// The machine at `root`: a recorded one when the directory holds verl-host.json, else the live one whose /sys, /proc and
// /etc are found there.
Result<std::unique_ptr<host::Host>> open_host(const std::string& root);

// Looks once and judges by `expectations`; `policy` only names where they came from.
api::NodeReadiness check_node(const host::Host& host, const api::Expectations& expectations, const std::string& node_name);

// 79 when a finding reaches the level. Unknown counts as an error whatever the level, and so does a report without any.
int exit_code(const std::vector<Finding>& findings, FailOn fail_on);

std::string print_checks();

}  // namespace verl::agent
