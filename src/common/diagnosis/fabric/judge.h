// The parts of judge_fabric, one file each.
#pragma once

#include "diagnosis/fabric/facts.h"
#include "diagnosis/judge.h"

namespace verl::fabric {

using diagnosis::Findings;
using diagnosis::Policy;

void judge_ports(const Facts& facts, const Policy& policy, Findings& out);       // state, count, rate, GIDs, active MTU
void judge_interfaces(const Facts& facts, const Policy& policy, Findings& out);  // link, speed, MTU, drift
void judge_counters(const Facts& facts, const Policy& policy, Findings& out);    // saturation, differences

// A finding with the line that said the field, when one did.
diagnosis::Finding about(std::string_view id, std::string subject, const Lines& lines, const std::string& field);

}  // namespace verl::fabric
