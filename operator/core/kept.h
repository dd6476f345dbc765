// What the operator keeps of objects in memory: all that a decision reads, little of what only people read. Its caches hold
// thousands of reports of 8 KB and all pods of the cluster; programs that show objects to people read them whole.
#pragma once

#include "api/node.h"
#include "api/node_readiness.h"

namespace verl::core {

// plan_round() over kept objects equals plan_round() over whole ones.
api::NodeReadiness kept(api::NodeReadiness report);
api::Pod kept(api::Pod pod);
api::Heartbeat kept(api::Heartbeat heartbeat);

}  // namespace verl::core
