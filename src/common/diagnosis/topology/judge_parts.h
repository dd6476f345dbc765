// The parts of judge_topology(), one an idea.
#pragma once

#include "diagnosis/judge.h"

namespace verl::topology {

using diagnosis::Findings;
using diagnosis::NodeFacts;
using diagnosis::Policy;

void judge_numa(const Facts& facts, const Policy& policy, Findings& out);             // locality, CPU lists, NUMA nodes
void judge_nics(const Facts& facts, const fabric::Facts& fabric, Findings& out);      // near NICs, rails
void judge_gpus(const Facts& facts, const Policy& policy, Findings& out);             // MIG, count
void judge_nvlink(const Facts& facts, Findings& out);                                 // missing links, groups
void judge_pcie(const Facts& facts, Findings& out);                                   // ACS, width and speed
void judge_nccl_files(const NodeFacts& node, const Policy& policy, Findings& out);    // topology files, limits of NCCL's own XML

}  // namespace verl::topology
