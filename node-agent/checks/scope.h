// Which interfaces and ports the expectations speak of: the fabric and the control interface.
#pragma once

#include <string>
#include <vector>

#include "node-agent/checks/judge.h"

namespace verl::agent {

// "ens*" means every name that begins with "ens"; anything else is one name.
bool matches(const std::string& pattern, const std::string& name);

bool is_fabric(const Interface& interface, const JudgeInput& input);
bool is_control(const Interface& interface, const JudgeInput& input);

// Ports that must work: those of the declared fabric interfaces, or all of the hardware when the inventory is declared.
bool is_expected(const RdmaPort& port, const JudgeInput& input);

const Interface* find_interface(const JudgeInput& input, const std::string& name);

}  // namespace verl::agent
