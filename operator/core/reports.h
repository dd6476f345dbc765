// Plans the NodeReadiness objects and heartbeats: which exist, what each is asked to judge, and the verdict of each.
// A report exists exactly for the nodes that a policy selects or that offer GPUs.
#pragma once

#include <map>
#include <string>
#include <variant>
#include <vector>

#include "operator/core/model.h"
#include "operator/core/readiness.h"

namespace verl::core {

struct CreateReport {
  std::string node{};
  std::string node_uid{};  // owner
  api::NodeReadinessSpec spec{};
  bool operator==(const CreateReport&) const = default;
};
struct UpdateReportSpec {
  std::string node{};
  std::string resource_version{};
  api::NodeReadinessSpec spec{};
  bool operator==(const UpdateReportSpec&) const = default;
};
struct DeleteReport {  // its node is gone, was made again, or is no longer selected
  std::string node{};
  std::string uid{};
  std::string resource_version{};
  bool operator==(const DeleteReport&) const = default;
};
struct WriteVerdict {
  std::string node{};
  std::string verdict{};
  api::Condition ready{};
  bool operator==(const WriteVerdict&) const = default;
};
struct CreateHeartbeat {  // a Lease in the operator's namespace, renewed by the node's agent
  std::string node{};
  std::string node_uid{};
  Seconds renewal{30};
  bool operator==(const CreateHeartbeat&) const = default;
};
struct SetRenewal {
  std::string node{};
  Seconds renewal{30};
  bool operator==(const SetRenewal&) const = default;
};
struct DeleteHeartbeat {
  std::string node{};
  std::string uid{};
  bool operator==(const DeleteHeartbeat&) const = default;
};
using ReportAction = std::variant<CreateReport, UpdateReportSpec, DeleteReport, WriteVerdict, CreateHeartbeat, SetRenewal, DeleteHeartbeat>;

// What the agent of this node is to judge.
api::NodeReadinessSpec report_spec(const ClusterSnapshot& snapshot, const api::Node& node);

// All of it for one snapshot, sorted by node name. `verdicts` comes from judge_nodes over the same snapshot. The plan of a
// state that this plan has been applied to is empty.
std::vector<ReportAction> plan_reports(const ClusterSnapshot& snapshot, const std::map<std::string, NodeVerdict, std::less<>>& verdicts);

}  // namespace verl::core
