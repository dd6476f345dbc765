// Judges what was observed against what was declared. Pure: the same observation and expectations give the same findings.
// What was not declared is reported as Skipped, with what was seen; what could not be read is Unknown and names the file.
#pragma once

#include <cstddef>
#include <vector>

#include "api/node_readiness.h"
#include "node-agent/checks/observation.h"

namespace verl::agent {

struct JudgeInput {
  const Observation& observation;
  const api::NodeReadinessSpec& spec;
  const PacketSample* before{nullptr};  // counters of an earlier look of the same boot, or nothing
};

// Interfaces, RDMA ports, NCCL settings and GPUs that a report has room for, of each.
inline constexpr size_t kMostShown = 64;

// Findings in the order of the catalogue, at most 128. A failed check that the policy only reports is a Warn.
std::vector<Finding> judge(const JudgeInput& input);

// Everything a report shows of the node beside the findings: interfaces, RDMA ports, clock, NCCL settings, topology.
api::NodeReadinessStatus status_of(const JudgeInput& input);

// Parts of judge(), in files of their own. They know no check actions.
std::vector<Finding> judge_network(const JudgeInput& input);
std::vector<Finding> judge_rdma(const JudgeInput& input);
std::vector<Finding> judge_time(const JudgeInput& input);
std::vector<Finding> judge_nccl(const JudgeInput& input);
std::vector<Finding> judge_host(const JudgeInput& input);  // judge_nccl's among them

}  // namespace verl::agent
