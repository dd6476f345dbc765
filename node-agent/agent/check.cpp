#include "node-agent/agent/check.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/check_catalogue.h"
#include "host/live_host.h"
#include "host/tree_host.h"
#include "node-agent/agent/version.h"
#include "node-agent/checks/judge.h"
#include "node-agent/checks/observe.h"

namespace verl::agent {

Result<std::unique_ptr<host::Host>> open_host(const std::string& root) {
  const auto files = host::FileRoot::open(root);
  if (!files) return tl::unexpected(files.error());
  const auto recorded = files->exists("/verl-host.json");
  if (!recorded) return tl::unexpected(recorded.error());
  if (*recorded) return host::tree_host(root);
  return host::live_host({.root = root});
}

api::NodeReadiness check_node(const host::Host& host, const api::Expectations& expectations, const std::string& node_name) {
  const Observation observation = observe(host);
  api::NodeReadiness report;
  report.meta.name = node_name;
  report.spec.expectations = expectations;
  report.status = status_of({.observation = observation, .spec = report.spec, .before = nullptr});
  report.status.agent_version = kVersion;
  report.status.observed_at = host.now();
  return report;
}

int exit_code(const std::vector<Finding>& findings, FailOn fail_on) {
  if (findings.empty()) return kExitFindings;
  const auto counts = [fail_on](const Finding& finding) {
    switch (finding.verdict) {
      case Verdict::Fail:
      case Verdict::Unknown: return true;
      case Verdict::Warn: return fail_on == FailOn::Warning;
      case Verdict::Pass:
      case Verdict::Skipped: return false;
    }
    return true;
  };
  return std::any_of(findings.begin(), findings.end(), counts) ? kExitFindings : kExitWell;
}

std::string print_checks() {
  std::string out;
  for (const api::CheckEntry& check : api::kChecks) {
    out += fmt::format("{:<20} {:<8} {:<6} {}\n", check.id, check.group, api::to_string(check.action), check.title);
  }
  return out;
}

}  // namespace verl::agent
