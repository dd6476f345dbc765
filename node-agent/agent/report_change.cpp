#include "node-agent/agent/report_change.h"

#include <algorithm>

namespace verl::agent {

api::NodeReadinessStatus lasting_part(const api::NodeReadinessStatus& status) {
  api::NodeReadinessStatus out = status;
  out.observed_at.reset();
  out.clock.offset.reset();
  out.clock.error_bound.reset();
  for (Finding& finding : out.findings) {
    if (finding.check != "clock-error" && finding.check != "clock-sync" && finding.check != "packet-drops") continue;
    finding.seen.clear();
    finding.message.clear();
  }
  // The operator's part.
  out.verdict.clear();
  out.conditions.erase(std::remove_if(out.conditions.begin(), out.conditions.end(), [](const api::Condition& one) { return one.type != "Healthy"; }),
                       out.conditions.end());
  for (api::Condition& condition : out.conditions) {
    condition.last_transition = {};
    condition.observed_generation = 0;
  }
  return out;
}

bool worth_writing(const api::NodeReadinessStatus& fresh, const api::NodeReadinessStatus& server) {
  return lasting_part(fresh) != lasting_part(server);
}

}  // namespace verl::agent
