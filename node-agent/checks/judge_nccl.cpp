// The NCCL settings that the host imposes on every job by /etc/nccl.conf: the linter's rules over that file and the ports and interfaces
// that were seen. Which rules there are and what they mean is diagnosis' to say.
#include <fmt/format.h>

#include <algorithm>

#include "base/broken_invariant.h"
#include "base/text.h"
#include "diagnosis/judge.h"
#include "node-agent/checks/judge.h"

namespace verl::agent {
namespace {

constexpr std::string_view kFile = "/etc/nccl.conf";

fabric::LinkLayer link_layer(const Reading<std::string>& text) {
  if (text && *text == "InfiniBand") return fabric::LinkLayer::Infiniband;
  if (text && *text == "Ethernet") return fabric::LinkLayer::Ethernet;
  return fabric::LinkLayer::Unknown;
}

fabric::Port port_facts(const RdmaPort& seen) {
  fabric::Port port;
  port.device = seen.device;
  port.port = seen.port;
  port.link_layer = link_layer(seen.link_layer);
  port.state = seen.state.value_or("");
  port.physical_state = seen.physical_state.value_or("");
  if (seen.rate_gbps) port.rate_gbps = *seen.rate_gbps;
  if (seen.active_mtu) port.active_mtu = *seen.active_mtu;
  port.netdev = seen.netdev;
  if (seen.gids) port.gids = *seen.gids;
  port.pci = seen.pci;
  return port;
}

fabric::InterfaceKind kind_of(const Interface& seen) {
  constexpr std::int32_t kEthernet = 1;
  constexpr std::int32_t kInfiniband = 32;
  constexpr std::int32_t kLoopback = 772;
  if (seen.type.value_or(0) == kLoopback) return fabric::InterfaceKind::Loopback;
  if (seen.type.value_or(0) == kInfiniband) return fabric::InterfaceKind::Infiniband;
  if (!seen.bond_members.empty()) return fabric::InterfaceKind::Bond;
  return seen.physical && seen.type.value_or(0) == kEthernet ? fabric::InterfaceKind::Ethernet : fabric::InterfaceKind::Unknown;
}

fabric::Interface interface_facts(const Interface& seen) {
  fabric::Interface one;
  one.name = seen.name;
  one.kind = kind_of(seen);
  const std::string state = seen.operstate.value_or("");
  if (state == "up") one.running = true;
  if (state == "down" || state == "lowerlayerdown" || state == "notpresent" || state == "dormant") one.running = false;
  if (seen.mtu) one.mtu = *seen.mtu;
  if (seen.speed_mbps) one.speed_mbps = *seen.speed_mbps;
  one.addresses = seen.addresses;
  return one;
}

diagnosis::NodeFacts facts_of(const Observation& seen) {
  diagnosis::NodeFacts facts;
  nccl::Environment file;
  file.kind = nccl::EnvironmentKind::Conf;
  for (const nccl::Setting& setting : seen.nccl_conf->settings) file.settings.push_back({.setting = setting, .source = std::string(kFile), .line = 0});
  facts.nccl.environments.push_back(std::move(file));
  if (seen.rdma) {
    for (const RdmaPort& port : *seen.rdma) {
      if (port.hardware) facts.fabric.ports.push_back(port_facts(port));
    }
  }
  if (seen.interfaces) {
    for (const Interface& one : *seen.interfaces) facts.fabric.interfaces.push_back(interface_facts(one));
  }
  return facts;
}

Verdict verdict_of(diagnosis::Severity severity) {
  switch (severity) {
    case diagnosis::Severity::Info: return Verdict::Pass;
    case diagnosis::Severity::Warning: return Verdict::Warn;
    case diagnosis::Severity::Unknown: return Verdict::Unknown;
    case diagnosis::Severity::Error: return Verdict::Fail;
  }
  broken_invariant("a severity outside its enumeration");
}

}  // namespace

std::vector<Finding> judge_nccl(const JudgeInput& input) {
  const auto& conf = input.observation.nccl_conf;
  const Finding base{.check = "nccl-env", .subject = std::string(kFile)};
  if (!conf) {
    Finding unread = base;
    unread.message = conf.error();
    return {unread};
  }
  std::vector<Finding> findings;
  const auto add = [&](Verdict verdict, std::string seen, std::string message, std::string remedy) {
    Finding next = base;
    next.verdict = verdict;
    next.seen = escape_controls(seen);
    next.message = std::move(message);
    next.remedy = std::move(remedy);
    findings.push_back(std::move(next));
  };
  for (const nccl::ConfComplaint& complaint : conf->complaints) {
    add(Verdict::Warn, fmt::format("line {}", complaint.line), complaint.what, fmt::format("correct line {} of {}", complaint.line, kFile));
  }
  diagnosis::Findings found;
  diagnosis::judge_nccl(facts_of(input.observation), {}, found);
  for (const diagnosis::Finding& one : found) {
    if (one.severity == diagnosis::Severity::Info) continue;
    const auto set = std::find_if(conf->settings.begin(), conf->settings.end(), [&](const nccl::Setting& setting) { return setting.name == one.subject; });
    if (set == conf->settings.end()) continue;  // of what the file leaves open; the job's own settings decide it
    add(verdict_of(one.severity), fmt::format("{}={}", set->name, set->value), one.id + ": " + one.message, one.remedy);
  }
  // What these settings do depends on what could not be looked at.
  for (const nccl::Setting& setting : conf->settings) {
    const bool of_rdma = (setting.name == "NCCL_IB_DISABLE" && setting.value != "0") || setting.name == "NCCL_IB_HCA" || setting.name == "NCCL_IB_GID_INDEX";
    if (of_rdma && !input.observation.rdma) {
      add(Verdict::Unknown, setting.name + "=" + setting.value, "the node's RDMA devices could not be read: " + input.observation.rdma.error(), {});
    } else if (setting.name == "NCCL_SOCKET_IFNAME" && !input.observation.interfaces) {
      add(Verdict::Unknown, setting.name + "=" + setting.value, "the node's interfaces could not be read: " + input.observation.interfaces.error(), {});
    }
  }
  if (findings.empty()) {
    std::vector<std::string> all;
    for (const nccl::Setting& setting : conf->settings) all.push_back(setting.name + "=" + setting.value);
    add(Verdict::Pass, all.empty() ? "no settings" : shorten(join(all, ", "), 400), {}, {});
  }
  return findings;
}

}  // namespace verl::agent
