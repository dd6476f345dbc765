// Whether a fresh status is worth a write: figures that tremble from look to look are not.
#pragma once

#include "api/node_readiness.h"

namespace verl::agent {

// The agent's part of a status, without what changes all the time: time of the look, the clock's offset and bound, counts of
// packets. Verdicts, and everything that placement reads, stay.
api::NodeReadinessStatus lasting_part(const api::NodeReadinessStatus& status);

// `server` is what the API holds now, whoever wrote it.
bool worth_writing(const api::NodeReadinessStatus& fresh, const api::NodeReadinessStatus& server);

}  // namespace verl::agent
