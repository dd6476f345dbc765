// What the operator keeps of a report in memory: all that a decision reads, little of what only people read. Thousands of
// reports of 8 KB lie in its cache; programs that show reports to people read them whole.
#pragma once

#include "api/node_readiness.h"

namespace verl::core {

// plan_round() over kept reports equals plan_round() over whole ones.
api::NodeReadiness kept_report(api::NodeReadiness report);

}  // namespace verl::core
