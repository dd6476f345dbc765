// What a node's settings and its hardware say against each other: NCCL301 to NCCL338, and of the rules between processes those
// that one node can show (NCCL404, NCCL406, NCCL407). What is not known is not judged; where it could be fatal, it is said.
#pragma once

#include "diagnosis/judge.h"
#include "diagnosis/nccl/situation.h"

namespace verl::nccl {

// Every environment of the node. The findings leave `nodes` empty.
void judge_hardware(const diagnosis::NodeFacts& node, const diagnosis::Policy& policy, diagnosis::Findings& out);

// One environment, by subject.
void judge_devices(const Situation& situation, diagnosis::Findings& out);     // hardware_devices.cpp: NCCL301 to NCCL309, NCCL338
void judge_transport(const Situation& situation, diagnosis::Findings& out);   // hardware_transport.cpp: NCCL320, NCCL321, NCCL330 to NCCL333
void judge_interfaces(const Situation& situation, diagnosis::Findings& out);  // hardware_interfaces.cpp: NCCL310 to NCCL313
void judge_gids(const Situation& situation, diagnosis::Findings& out);        // hardware_gids.cpp: NCCL314 to NCCL319, NCCL337
void judge_gpus(const Situation& situation, diagnosis::Findings& out);        // hardware_gpus.cpp: NCCL322 to NCCL325, NCCL334, NCCL335
void judge_container(const Situation& situation, diagnosis::Findings& out);   // hardware_container.cpp: NCCL326 to NCCL329, NCCL336

}  // namespace verl::nccl
