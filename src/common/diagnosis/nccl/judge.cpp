#include "diagnosis/judge.h"

#include "diagnosis/nccl/fleet.h"
#include "diagnosis/nccl/hardware.h"
#include "diagnosis/nccl/lint.h"

namespace verl::diagnosis {

void judge_nccl(const NodeFacts& node, const Policy& policy, Findings& out) {
  nccl::lint_settings(node, policy, out);
  nccl::judge_hardware(node, policy, out);
  nccl::judge_ranks(node, policy, out);
}

void compare_nccl(const Fleet& fleet, const Policy& policy, Findings& out) { nccl::compare_fleet(fleet, policy, out); }

}  // namespace verl::diagnosis
