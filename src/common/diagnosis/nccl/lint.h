// The rules that need nothing but the settings, the version of NCCL that reads them and the policy: NCCL001 to NCCL222 and NCCL5xx.
#pragma once

#include "diagnosis/facts.h"
#include "diagnosis/judge.h"
#include "diagnosis/policy.h"

namespace verl::nccl {

// All environments and configuration files of one node. The findings leave `nodes` empty.
void lint_settings(const diagnosis::NodeFacts& node, const diagnosis::Policy& policy, diagnosis::Findings& out);

}  // namespace verl::nccl
