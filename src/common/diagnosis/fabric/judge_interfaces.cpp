// Interfaces of one node: link, speed and MTU of those the job uses, and whether they are as configured. IPoIB has MTUs of its
// own and is never judged by the rule for Ethernet.
#include <fmt/core.h>

#include <algorithm>

#include "base/text.h"
#include "diagnosis/fabric/judge.h"
#include "diagnosis/fabric/siblings.h"
#include "diagnosis/rdma/port.h"
#include "diagnosis/rule.h"

namespace verl::fabric {
namespace {

using diagnosis::Finding;
using diagnosis::Severity;

std::vector<const Interface*> members_of(const Facts& facts, const Interface& bond) {
  std::vector<const Interface*> members;
  for (const Interface& one : facts.interfaces) {
    if (one.master == bond.name && bond.kind != InterfaceKind::Bridge) members.push_back(&one);
  }
  return members;
}

Finding about(std::string_view id, const Interface& interface, const std::string& field) { return fabric::about(id, interface.name, interface.lines, field); }

void judge_mtu(const Interface& interface, const Facts& facts, const Policy& policy, Findings& out) {
  if (!policy.mtu_min) return;
  if (!interface.mtu) {
    Finding finding = about("mtu-interface", interface, "running");
    finding.severity = Severity::Unknown;
    finding.wanted = fmt::format("at least {}", *policy.mtu_min);
    finding.message = fmt::format("the MTU of {} is not said, at least {} is wanted", interface.name, *policy.mtu_min);
    finding.remedy = "add ip address";
    out.push_back(std::move(finding));
    return;
  }
  if (*interface.mtu >= *policy.mtu_min) return;
  Finding finding = about("mtu-interface", interface, "mtu");
  finding.seen = std::to_string(*interface.mtu);
  finding.wanted = fmt::format("at least {}", *policy.mtu_min);
  finding.message = fmt::format("MTU of {} is {}, at least {} is wanted", interface.name, *interface.mtu, *policy.mtu_min);
  const auto port = std::find_if(facts.ports.begin(), facts.ports.end(), [&](const Port& one) { return one.netdev == interface.name; });
  if (port != facts.ports.end()) {
    if (const auto active = active_mtu(*port, facts)) finding.message += fmt::format("; RoCE over it is at {} (active MTU)", active->bytes);
  }
  out.push_back(std::move(finding));
}

void judge_speed(const Interface& interface, const Facts& facts, const Policy& policy, Findings& out) {
  std::int64_t wanted = interface.configured_speed_mbps.value_or(0);
  if (policy.link_gbps_min && is_named(interface, policy)) {
    const auto members = static_cast<std::int64_t>(std::max<std::size_t>(1, members_of(facts, interface).size()));
    wanted = std::int64_t{*policy.link_gbps_min} * 1000 * members;
  }
  if (wanted == 0) return;
  if (interface.speed_mbps && *interface.speed_mbps >= wanted) return;
  Finding finding = about("link-speed", interface, "speed");
  finding.wanted = fmt::format("{} Mb/s", wanted);
  if (!interface.speed_mbps) {
    // A port of RDMA says its own rate; only where nothing says any is the speed missing.
    const auto port = std::find_if(facts.ports.begin(), facts.ports.end(), [&](const Port& one) { return one.netdev == interface.name && one.rate_gbps; });
    if (port != facts.ports.end()) return;
    finding.severity = Severity::Unknown;
    finding.message = fmt::format("the speed of {} is not said, {} Mb/s are wanted", interface.name, wanted);
    finding.remedy = "add ethtool INTERFACE";
  } else {
    finding.seen = fmt::format("{} Mb/s", *interface.speed_mbps);
    finding.message = fmt::format("{} runs at {} Mb/s, {} Mb/s are wanted", interface.name, *interface.speed_mbps, wanted);
  }
  out.push_back(std::move(finding));
}

void judge_link(const Interface& interface, const Policy& policy, Findings& out) {
  if (!is_named(interface, policy)) return;
  if (interface.running != false && interface.up != false) return;
  Finding finding = about("link-state", interface, "running");
  finding.seen = interface.up == false ? "switched off" : "no carrier";
  finding.wanted = "up";
  finding.message = interface.name + " is down: " + finding.seen;
  out.push_back(std::move(finding));
}

void judge_bond(const Interface& bond, const Facts& facts, bool fabric, Findings& out) {
  if (!bond.mtu) return;
  for (const Interface* member : members_of(facts, bond)) {
    if (!member->mtu || *member->mtu == *bond.mtu) continue;
    Finding finding = about("mtu-interface", *member, "mtu");
    finding.severity = fabric ? Severity::Error : Severity::Warning;
    finding.seen = std::to_string(*member->mtu);
    finding.wanted = std::to_string(*bond.mtu);
    finding.message = fmt::format("MTU of {} is {}, that of its bond {} is {}", member->name, *member->mtu, bond.name, *bond.mtu);
    out.push_back(std::move(finding));
  }
}

// A bond without a configuration of its own takes its members'.
std::optional<std::int32_t> configured_mtu(const Interface& interface, const Facts& facts) {
  if (interface.configured_mtu) return interface.configured_mtu;
  std::optional<std::int32_t> mtu;
  for (const Interface* member : members_of(facts, interface)) {
    if (!member->configured_mtu || (mtu && mtu != member->configured_mtu)) return std::nullopt;
    mtu = member->configured_mtu;
  }
  return mtu;
}

void judge_drift(const Interface& interface, const Facts& facts, Findings& out) {
  const auto configured = configured_mtu(interface, facts);
  if (!configured || !interface.mtu || *configured == *interface.mtu) return;
  Finding finding = about("mtu-drift", interface, "mtu");
  finding.seen = std::to_string(*interface.mtu);
  finding.wanted = std::to_string(*configured);
  finding.message = fmt::format("MTU of {} is {}, its configuration says {}", interface.name, *interface.mtu, *configured);
  out.push_back(std::move(finding));
}

}  // namespace

void judge_interfaces(const Facts& facts, const Policy& policy, Findings& out) {
  bool any = false;
  for (const Interface& interface : facts.interfaces) {
    judge_drift(interface, facts, out);
    const bool fabric = is_fabric_interface(interface, facts, policy);
    any = any || fabric || is_named(interface, policy);
    if (interface.kind == InterfaceKind::Bond || !members_of(facts, interface).empty()) judge_bond(interface, facts, fabric, out);
    judge_link(interface, policy, out);
    if (!fabric) continue;
    judge_mtu(interface, facts, policy, out);
    judge_speed(interface, facts, policy, out);
  }
  if (any || policy.fabric_interfaces.empty() || facts.interfaces.empty()) return;
  Finding finding = diagnosis::finding_of("link-state", join_some(policy.fabric_interfaces, 8));
  finding.severity = Severity::Unknown;
  finding.seen = "none of them";
  finding.message = "none of the fabric interfaces that the policy names is among the interfaces shown";
  out.push_back(std::move(finding));
}

}  // namespace verl::fabric
