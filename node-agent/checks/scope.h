// Which interfaces and ports the expectations speak of: the fabric and the control interface.
#pragma once

#include <string>
#include <vector>

#include "node-agent/checks/judge.h"

namespace verl::agent {

// "ens*" means every name that begins with "ens"; anything else is one name.
bool matches(const std::string& pattern, const std::string& name);

// Whether anything at all is said about the fabric. If not, its links and ports are reported and not judged.
bool fabric_is_declared(const api::Expectations& expectations);

bool is_fabric(const Interface& interface, const JudgeInput& input);
bool is_control(const Interface& interface, const JudgeInput& input);

// Ports that must work: those of the fabric interfaces named, or without names all of the hardware.
bool is_expected(const RdmaPort& port, const JudgeInput& input);

const Interface* find_interface(const JudgeInput& input, const std::string& name);

}  // namespace verl::agent
