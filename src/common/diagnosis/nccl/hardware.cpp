#include "diagnosis/nccl/hardware.h"

namespace verl::nccl {

void judge_hardware(const diagnosis::NodeFacts& node, const diagnosis::Policy& policy, diagnosis::Findings& out) {
  const std::optional<Version> version = known_version(node.nccl, policy);
  for (const Effective& settings : effective_environments(node.nccl, version)) {
    const Situation situation{.node = &node, .policy = &policy, .settings = &settings, .version = version};
    for (const auto judge : {judge_devices, judge_transport, judge_interfaces, judge_gids, judge_gpus, judge_container}) judge(situation, out);
  }
}

}  // namespace verl::nccl
