// The trainer's command line: what the user wrote, completed by what must agree with the gang.
#pragma once

#include <string>
#include <vector>

#include "api/verl_job.h"

namespace verl::core {

// argv of the driver: `python3 -m <module>` or the command, then one "key=value" per override in key order, then the
// sizes of the pools: the first pool is verl's trainer pool, later ones are known by name (rollout, reward, teacher).
// A command without overrides is left as it is: it need not be a verl entry point.
std::vector<std::string> trainer_argv(const api::VerlJobSpec& spec);

// Overrides that contradict the gang, one sentence each with the field's path; empty when there is none.
std::vector<std::string> trainer_problems(const api::VerlJobSpec& spec);

}  // namespace verl::core
