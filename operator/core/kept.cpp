#include "operator/core/kept.h"

#include <algorithm>

#include "api/check_catalogue.h"
#include "operator/core/readiness.h"

namespace verl::core {
namespace {

// What is wrong or unknown is quoted in verdicts, word for word. Of the rest only counts that it was answered.
void keep_findings(api::NodeReadinessStatus& status) {
  std::vector<Finding> kept;
  for (Finding& finding : status.findings) {
    if (finding.verdict == Verdict::Fail || finding.verdict == Verdict::Unknown || api::find_check(finding.check) == nullptr) {
      kept.push_back(std::move(finding));
    } else if (is_answer(finding)) {
      status.answered |= api::answered_bit(finding.check);
    }
  }
  kept.shrink_to_fit();
  status.findings = std::move(kept);
}

// The interface of control traffic and the smallest MTU of the fabric are asked for, in the order of the report.
std::vector<api::InterfaceStatus> kept_interfaces(const std::vector<api::InterfaceStatus>& interfaces) {
  std::vector<api::InterfaceStatus> kept;
  const api::InterfaceStatus* control = nullptr;
  const api::InterfaceStatus* narrowest = nullptr;
  for (const api::InterfaceStatus& one : interfaces) {
    if (one.control && control == nullptr) control = &one;
    if (one.fabric && (narrowest == nullptr || one.mtu < narrowest->mtu)) narrowest = &one;
  }
  const auto keep = [&](const api::InterfaceStatus& one) {
    kept.push_back({.name = one.name, .up = one.up, .mtu = one.mtu, .control = one.control, .fabric = one.fabric});
  };
  if (control != nullptr) keep(*control);
  if (narrowest != nullptr && narrowest != control) keep(*narrowest);
  kept.shrink_to_fit();
  return kept;
}

}  // namespace

api::NodeReadiness kept(api::NodeReadiness report) {
  api::NodeReadinessStatus& status = report.status;
  keep_findings(status);
  status.interfaces = kept_interfaces(status.interfaces);
  std::erase_if(status.rdma, [](const api::RdmaPortStatus& port) { return port.state != "ACTIVE"; });
  for (api::RdmaPortStatus& port : status.rdma) port.pci = {};
  status.rdma.shrink_to_fit();
  for (api::NcclSetting& setting : status.nccl) setting.source = {};
  status.nccl.shrink_to_fit();
  status.clock = {};
  status.topology = {};
  std::erase_if(status.conditions, [](const api::Condition& one) { return one.type != "Ready"; });
  status.conditions.shrink_to_fit();
  report.meta.labels.clear();
  return report;
}

// Of pods that are nobody's rank only counts what they hold of their node.
api::Pod kept(api::Pod pod) {
  if (pod.meta.labels.contains(std::string(api::kJobNameLabel))) return pod;
  pod.meta.labels.clear();
  pod.owner_uid = {};
  pod.reason = {};
  pod.message = {};
  return pod;
}

api::Heartbeat kept(api::Heartbeat heartbeat) {
  heartbeat.meta.labels.clear();
  return heartbeat;
}

}  // namespace verl::core
