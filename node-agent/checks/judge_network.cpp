// Interfaces: up, MTU, speed, losses; and the range of ports that connections are given.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "node-agent/checks/judge.h"
#include "node-agent/checks/scope.h"

namespace verl::agent {
namespace {

constexpr std::int32_t kInfiniBandType = 32;
constexpr std::int32_t kJobPortsFirst = 20000;
constexpr std::int32_t kJobPortsLast = 29999;
constexpr std::uint64_t kFewestPackets = 100'000;  // below that a share says nothing
constexpr double kWarnShare = 0.0001;
constexpr double kFailShare = 0.001;

std::string described(const Interface& interface) {
  const std::string mtu = interface.mtu ? fmt::format("MTU {}", *interface.mtu) : "MTU unreadable";
  const std::string speed = interface.speed_mbps ? fmt::format(", {} Gb/s", *interface.speed_mbps / 1000) : "";
  return fmt::format("{}, {}{}", interface.operstate.value_or("state unreadable"), mtu, speed);
}

Finding judge_link(const Interface& interface) {
  Finding finding{.check = "link-state", .subject = interface.name, .wanted = "up"};
  if (!interface.operstate) {
    finding.verdict = Verdict::Unknown;
    finding.message = interface.operstate.error();
    return finding;
  }
  finding.seen = *interface.operstate;
  if (finding.seen == "up") {
    finding.verdict = Verdict::Pass;
  } else if (finding.seen == "unknown") {
    finding.verdict = Verdict::Unknown;
    finding.message = "the driver does not report the state of this link";
  } else {
    finding.verdict = Verdict::Fail;
    finding.remedy = fmt::format("check cable, transceiver and switch port of {}, then: ip link set {} up", interface.name, interface.name);
  }
  return finding;
}

Finding judge_mtu(const Interface& interface, const JudgeInput& input) {
  Finding finding{.check = "mtu-interface", .subject = interface.name};
  const auto wanted = input.spec.expectations.thresholds.mtu_min;
  if (!interface.mtu) {
    finding.message = interface.mtu.error();
    return finding;
  }
  finding.seen = std::to_string(*interface.mtu);
  if (!interface.type) {
    finding.message = "whether this is Ethernet cannot be told: " + interface.type.error();
    return finding;
  }
  if (*interface.type == kInfiniBandType) {
    finding.verdict = Verdict::Skipped;
    finding.message = "IP over InfiniBand: its MTU is no Ethernet MTU";
    return finding;
  }
  for (const std::string& member : interface.bond_members) {
    const Interface* slave = find_interface(input, member);
    if (slave == nullptr || !slave->mtu) {
      finding.message = fmt::format("the MTU of bond member {} could not be read", member);
      return finding;
    }
    if (*slave->mtu != *interface.mtu) {
      finding.verdict = Verdict::Fail;
      finding.seen = fmt::format("{}, member {} {}", *interface.mtu, member, *slave->mtu);
      finding.wanted = "equal on the bond and its members";
      finding.remedy = fmt::format("ip link set {} mtu {}", member, *interface.mtu);
      return finding;
    }
  }
  if (!wanted) {
    finding.verdict = Verdict::Skipped;
    finding.message = "no minimum is declared";
    return finding;
  }
  finding.wanted = fmt::format(">= {}", *wanted);
  finding.verdict = *interface.mtu >= *wanted ? Verdict::Pass : Verdict::Fail;
  if (finding.verdict == Verdict::Fail) {
    finding.remedy = fmt::format("ip link set {} mtu {}, and the same in the switch port", interface.name, *wanted);
  }
  return finding;
}

// IP over InfiniBand goes on showing the nominal speed when lanes are lost: there the rate of its port counts.
Reading<std::int64_t> speed_of(const Interface& interface, const JudgeInput& input) {
  if (!interface.type) return tl::unexpected(interface.type.error());
  if (*interface.type != kInfiniBandType) {
    if (!interface.speed_mbps) return tl::unexpected(interface.speed_mbps.error());
    return std::int64_t{*interface.speed_mbps};
  }
  if (input.observation.rdma) {
    for (const RdmaPort& port : *input.observation.rdma) {
      if (port.netdev != interface.name) continue;
      if (!port.rate_gbps) return tl::unexpected(port.rate_gbps.error());
      return std::int64_t{*port.rate_gbps} * 1000;
    }
  }
  return tl::unexpected(std::string("no RDMA port is known behind this InfiniBand interface"));
}

Finding judge_speed(const Interface& interface, const JudgeInput& input) {
  Finding finding{.check = "link-speed", .subject = interface.name};
  const auto wanted = input.spec.expectations.thresholds.link_gbps_min;
  const auto speed = speed_of(interface, input);
  if (speed) finding.seen = fmt::format("{} Gb/s", *speed / 1000);
  if (!wanted) {
    finding.verdict = Verdict::Skipped;
    finding.message = speed ? "no minimum is declared" : speed.error();
  } else {
    finding.wanted = fmt::format(">= {} Gb/s", *wanted);
    if (!speed) {
      finding.message = speed.error();
    } else if (*speed >= static_cast<std::int64_t>(*wanted) * 1000) {
      finding.verdict = Verdict::Pass;
    } else {
      finding.verdict = Verdict::Fail;
      finding.remedy = fmt::format("check forward error correction, cable and autonegotiation of {}: ethtool {}", interface.name, interface.name);
    }
  }
  return finding;
}

Finding judge_drops(const Interface& interface, const JudgeInput& input) {
  Finding finding{.check = "packet-drops", .subject = interface.name};
  if (!interface.counters) {
    finding.message = interface.counters.error();
    return finding;
  }
  const PacketCounters& now = *interface.counters;
  const auto before = input.before == nullptr ? PacketSample::const_iterator{} : input.before->find(interface.name);
  if (input.before == nullptr || before == input.before->end()) {
    finding.verdict = Verdict::Skipped;
    finding.message = "needs two looks: counters since boot are history";
    return finding;
  }
  if (now.packets < before->second.packets || now.lost < before->second.lost) {
    finding.verdict = Verdict::Skipped;
    finding.message = "the counters were reset since the last look";
    return finding;
  }
  const std::uint64_t packets = now.packets - before->second.packets;
  const std::uint64_t lost = now.lost - before->second.lost;
  finding.seen = fmt::format("{} lost of {} packets", lost, packets + lost);
  finding.wanted = "<= 0.01 %";
  if (lost == 0) {
    finding.verdict = Verdict::Pass;
    return finding;
  }
  if (packets < kFewestPackets) {
    finding.verdict = Verdict::Skipped;
    finding.message = fmt::format("fewer than {} packets since the last look: too few to judge", kFewestPackets);
    return finding;
  }
  const double share = static_cast<double>(lost) / static_cast<double>(packets + lost);
  finding.verdict = share > kFailShare ? Verdict::Fail : share > kWarnShare ? Verdict::Warn : Verdict::Pass;
  if (finding.verdict != Verdict::Pass) {
    finding.remedy = fmt::format("ethtool -S {} | grep -E 'discard|drop|crc|missed' names the cause: a full ring, a bad cable, or flow control missing", interface.name);
  }
  return finding;
}

// The operator goes by the interfaces that a report shows. What has no room in it is not known to it.
void judge_room(const JudgeInput& input, std::vector<Finding>& findings) {
  const auto& all = *input.observation.interfaces;
  const auto needed = std::count_if(all.begin(), all.end(), [&](const Interface& one) { return is_fabric(one, input) || is_control(one, input); });
  if (needed <= static_cast<std::ptrdiff_t>(kMostShown)) return;
  findings.push_back({.check = "link-state",
                      .verdict = fabric_is_declared(input.spec.expectations) ? Verdict::Unknown : Verdict::Skipped,
                      .subject = {},
                      .seen = fmt::format("{} fabric and control interfaces", needed),
                      .wanted = fmt::format("at most {}", kMostShown),
                      .remedy = "name the interfaces that jobs use in the policy (fabricInterfaces), without virtual functions",
                      .message = "the report has no room for all of them, some are left out"});
}

// Declared names and prefixes that no interface answers to.
void judge_missing(const JudgeInput& input, std::vector<Finding>& findings) {
  const auto& all = *input.observation.interfaces;
  const auto absent = [&](const std::string& pattern) {
    return std::none_of(all.begin(), all.end(), [&](const Interface& one) { return matches(pattern, one.name); });
  };
  const auto missing = [&](const std::string& pattern, std::string wanted) {
    findings.push_back({.check = "link-state",
                        .verdict = Verdict::Fail,
                        .subject = pattern,
                        .seen = "no such interface",
                        .wanted = std::move(wanted),
                        .remedy = "check the device and its driver (lspci, dmesg), or correct the name in the policy",
                        .message = {}});
  };
  for (const std::string& pattern : input.spec.expectations.fabric_interfaces) {
    if (absent(pattern)) missing(pattern, "a fabric interface");
  }
  const std::string& control = input.spec.expectations.control_interface;
  if (!control.empty()) {
    if (absent(control)) missing(control, "the control interface");
  } else if (!input.spec.address.empty() &&
             std::none_of(all.begin(), all.end(), [&](const Interface& one) { return is_control(one, input); })) {
    findings.push_back({.check = "link-state",
                        .verdict = Verdict::Unknown,
                        .subject = {},
                        .seen = "no interface has it",
                        .wanted = fmt::format("an interface with the node's address {}", input.spec.address),
                        .remedy = "name the interface in the policy: controlInterface",
                        .message = input.observation.addresses ? std::string{} : input.observation.addresses.error()});
  }
}

std::optional<bool> reserves(std::string_view list, std::int32_t first, std::int32_t last) {
  std::int32_t covered = first;  // everything below is reserved
  std::vector<std::pair<std::int32_t, std::int32_t>> ranges;
  for (const std::string_view part : split(trim(list), ',')) {
    if (part.empty()) continue;
    const size_t dash = part.find('-');
    const auto low = parse_int<std::int32_t>(part.substr(0, dash));
    const auto high = dash == std::string_view::npos ? low : parse_int<std::int32_t>(part.substr(dash + 1));
    if (!low || !high) return std::nullopt;
    ranges.emplace_back(*low, *high);
  }
  std::sort(ranges.begin(), ranges.end());
  for (const auto& [low, high] : ranges) {
    if (low <= covered) covered = std::max(covered, high + 1);
  }
  return covered > last;
}

Finding judge_port_range(const JudgeInput& input) {
  Finding finding{.check = "port-range", .wanted = fmt::format("{}-{} outside, or reserved", kJobPortsFirst, kJobPortsLast)};
  const auto& range = input.observation.ephemeral_ports;
  if (!range) {
    finding.message = range.error();
    return finding;
  }
  finding.seen = fmt::format("{}-{}", range->first, range->last);
  const std::int32_t first = std::max(range->first, kJobPortsFirst);
  const std::int32_t last = std::min(range->last, kJobPortsLast);
  if (first > last) {
    finding.verdict = Verdict::Pass;
    return finding;
  }
  const auto reserved = reserves(range->reserved, first, last);
  if (!reserved) {
    finding.message = "/proc/sys/net/ipv4/ip_local_reserved_ports is not understood";
    return finding;
  }
  finding.verdict = *reserved ? Verdict::Pass : Verdict::Warn;
  if (!*reserved) {
    finding.message = "the kernel may give a job's port to any connection";
    finding.remedy = fmt::format("sysctl -w net.ipv4.ip_local_reserved_ports={}-{}", kJobPortsFirst, kJobPortsLast);
  }
  return finding;
}

// A check that needs fabric interfaces, where none is known.
Finding without_fabric(std::string check, bool threshold_declared) {
  if (threshold_declared) {
    return {.check = std::move(check),
            .verdict = Verdict::Unknown,
            .subject = {},
            .seen = "no RDMA device has a network interface, and none is declared",
            .wanted = "fabric interfaces to judge",
            .remedy = "name them in the policy: fabricInterfaces",
            .message = {}};
  }
  return {.check = std::move(check), .verdict = Verdict::Skipped, .subject = {}, .seen = {}, .wanted = {}, .remedy = {},
          .message = "no fabric interface is declared and no RDMA device has one"};
}

}  // namespace

std::vector<Finding> judge_network(const JudgeInput& input) {
  std::vector<Finding> findings;
  const auto& interfaces = input.observation.interfaces;
  if (!interfaces) {
    for (const char* check : {"link-state", "mtu-interface", "link-speed", "packet-drops"}) {
      findings.push_back({.check = check, .verdict = Verdict::Unknown, .message = interfaces.error()});
    }
    findings.push_back(judge_port_range(input));
    return findings;
  }
  bool any_fabric = false;
  for (const Interface& interface : *interfaces) {
    const bool fabric = is_fabric(interface, input);
    const bool control = is_control(interface, input);
    if (fabric || control) findings.push_back(judge_drops(interface, input));
    if (control || (fabric && fabric_is_declared(input.spec.expectations))) {
      findings.push_back(judge_link(interface));
    } else if (fabric || interface.physical) {
      findings.push_back({.check = "link-state", .verdict = Verdict::Skipped, .subject = interface.name, .seen = described(interface),
                          .wanted = {}, .remedy = {}, .message = fabric ? "nothing is declared about the fabric" : "carries neither fabric nor control traffic as far as is declared"});
    }
    if (fabric) {
      any_fabric = true;
      findings.push_back(judge_mtu(interface, input));
      findings.push_back(judge_speed(interface, input));
    }
  }
  judge_missing(input, findings);
  judge_room(input, findings);
  if (!any_fabric) {
    const auto& thresholds = input.spec.expectations.thresholds;
    findings.push_back(without_fabric("mtu-interface", thresholds.mtu_min.has_value()));
    findings.push_back(without_fabric("link-speed", thresholds.link_gbps_min.has_value()));
  }
  if (std::none_of(findings.begin(), findings.end(), [](const Finding& one) { return one.check == "link-state"; })) {
    findings.push_back({.check = "link-state", .verdict = Verdict::Skipped, .message = "no physical interface, and none is declared"});
  }
  if (std::none_of(findings.begin(), findings.end(), [](const Finding& one) { return one.check == "packet-drops"; })) {
    findings.push_back(without_fabric("packet-drops", false));
  }
  findings.push_back(judge_port_range(input));
  return findings;
}

}  // namespace verl::agent
