// RDMA devices and ports: all there, active, fast enough, packets large enough, with an address that NCCL can use.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "diagnosis/rdma/port.h"
#include "node-agent/checks/judge.h"
#include "node-agent/checks/scope.h"

namespace verl::agent {
namespace {

std::string subject_of(const RdmaPort& port) { return fmt::format("{}/{}", port.device, port.port); }

bool is_ethernet(const RdmaPort& port) { return port.link_layer && *port.link_layer == "Ethernet"; }

std::string gid_text(const rdma::Gid& gid) {
  if (rdma::is_ipv4(gid)) return fmt::format("{}.{}.{}.{}", gid[12], gid[13], gid[14], gid[15]);
  std::string text;
  for (size_t i = 0; i < gid.size(); i += 2) text += fmt::format("{}{:02x}{:02x}", i == 0 ? "" : ":", gid[i], gid[i + 1]);
  return text;
}

Finding judge_count(const std::vector<RdmaPort>& ports, const JudgeInput& input) {
  std::set<std::string> hardware;
  std::set<std::string> software;
  for (const RdmaPort& port : ports) (port.hardware ? hardware : software).insert(port.device);
  Finding finding{.check = "rdma-device-count"};
  finding.seen = std::to_string(hardware.size());
  if (!software.empty()) {
    finding.message = fmt::format("software devices do not count: {}", join_some({software.begin(), software.end()}, 8));
  }
  const auto wanted = input.spec.expectations.inventory.rdma_devices;
  if (!wanted) {
    finding.verdict = Verdict::Skipped;
    if (finding.message.empty()) finding.message = "no number is declared";
    return finding;
  }
  finding.wanted = std::to_string(*wanted);
  const auto seen = static_cast<std::int64_t>(hardware.size());
  finding.verdict = seen == *wanted ? Verdict::Pass : seen < *wanted ? Verdict::Fail : Verdict::Warn;
  if (finding.verdict == Verdict::Fail) {
    finding.message = fmt::format("found {}", hardware.empty() ? "none" : join_some({hardware.begin(), hardware.end()}, 16));
    finding.remedy = "compare with lspci; a card that is there without an RDMA device needs its driver (dmesg | grep -i mlx5)";
  }
  return finding;
}

Finding judge_state(const RdmaPort& port, bool expected) {
  Finding finding{.check = "rdma-port-state", .subject = subject_of(port), .wanted = "ACTIVE, LinkUp"};
  if (!port.state || !port.physical_state) {
    finding.message = !port.state ? port.state.error() : port.physical_state.error();
    if (!expected) finding.verdict = Verdict::Skipped;
    return finding;
  }
  finding.seen = fmt::format("{}, {}", *port.state, *port.physical_state);
  if (!expected) {
    finding.verdict = Verdict::Skipped;
    finding.wanted.clear();
    finding.message = port.hardware ? "not declared as fabric" : "a software device: never a rail";
    return finding;
  }
  if (*port.state == "ACTIVE" && *port.physical_state == "LinkUp") {
    finding.verdict = Verdict::Pass;
    return finding;
  }
  finding.verdict = Verdict::Fail;
  finding.remedy = *port.state == "INIT" ? "the link is up and no subnet manager answers: start opensm, or look at the switch's"
                                         : fmt::format("check cable and switch port of {} ({}); then: ip link set {} up", port.device, port.pci,
                                                       port.netdev.empty() ? "<interface>" : port.netdev);
  return finding;
}

Finding judge_rate(const RdmaPort& port, const JudgeInput& input) {
  Finding finding{.check = "rdma-port-rate", .subject = subject_of(port)};
  const auto wanted = input.spec.expectations.thresholds.link_gbps_min;
  if (port.rate_gbps) finding.seen = fmt::format("{} Gb/s", *port.rate_gbps);
  if (!wanted) {
    finding.verdict = Verdict::Skipped;
    finding.message = port.rate_gbps ? "no minimum is declared" : port.rate_gbps.error();
    return finding;
  }
  finding.wanted = fmt::format(">= {} Gb/s", *wanted);
  if (!port.rate_gbps) {
    finding.message = port.rate_gbps.error();
  } else if (!port.state || *port.state != "ACTIVE") {
    finding.message = "the port is not active: the rate it shows is a default, not a negotiated one";
  } else if (*port.rate_gbps >= *wanted) {
    finding.verdict = Verdict::Pass;
  } else {
    finding.verdict = Verdict::Fail;
    finding.remedy = fmt::format("{} negotiated fewer or slower lanes: reseat or replace its cable", port.device);
  }
  return finding;
}

// The port's own answer where verbs give one. Else what the interface's MTU allows: too little is certain, enough is not.
Finding judge_active_mtu(const RdmaPort& port, const JudgeInput& input) {
  Finding finding{.check = "mtu-roce-active", .subject = subject_of(port)};
  const auto wanted = input.spec.expectations.thresholds.rdma_mtu_min;
  const Interface* netdev = find_interface(input, port.netdev);
  std::optional<std::int32_t> seen;
  bool derived = false;
  if (port.active_mtu) {
    seen = *port.active_mtu;
  } else if (netdev != nullptr && netdev->mtu) {
    seen = rdma::roce_mtu(*netdev->mtu);
    derived = true;
  }
  if (seen) finding.seen = fmt::format("{}{}", *seen, derived ? " at most" : "");
  if (wanted) finding.wanted = fmt::format(">= {}", *wanted);
  if (!seen) {
    finding.verdict = wanted ? Verdict::Unknown : Verdict::Skipped;
    finding.message = fmt::format("{}; nor is the MTU of its interface known", port.active_mtu.error());
  } else if (!wanted) {
    finding.verdict = Verdict::Skipped;
    finding.message = "no minimum is declared";
  } else if (*seen < *wanted) {
    finding.verdict = Verdict::Fail;
    finding.remedy = fmt::format("ip link set {} mtu {} or more, and the same in the switch port", port.netdev, rdma::netdev_mtu_for(*wanted));
    if (derived) finding.message = fmt::format("{} has MTU {}, which leaves no room for more", port.netdev, *netdev->mtu);
  } else if (derived) {
    finding.verdict = Verdict::Warn;
    finding.message = fmt::format("{} has MTU {}, which allows it; what the port really uses takes verbs to read", port.netdev, *netdev->mtu);
    finding.remedy = "give the agent read access to /dev/infiniband/uverbs*";
  } else {
    finding.verdict = Verdict::Pass;
  }
  return finding;
}

Finding judge_gid(const RdmaPort& port) {
  Finding finding{.check = "roce-gid", .subject = subject_of(port), .wanted = "a routable RoCE v2 address"};
  if (!port.gids) {
    finding.message = port.gids.error();
    return finding;
  }
  std::int32_t index = rdma::nccl_gid_index(*port.gids, rdma::AddressFamily::Inet4);
  const rdma::GidEntry* chosen = rdma::entry_at(*port.gids, index);
  if (chosen != nullptr && rdma::usable(*chosen)) {
    finding.verdict = Verdict::Pass;
    finding.seen = fmt::format("index {}: {}", index, gid_text(chosen->gid));
    return finding;
  }
  index = rdma::nccl_gid_index(*port.gids, rdma::AddressFamily::Inet6);
  chosen = rdma::entry_at(*port.gids, index);
  if (chosen != nullptr && rdma::usable(*chosen)) {
    finding.verdict = Verdict::Warn;
    finding.seen = fmt::format("only IPv6: index {}: {}", index, gid_text(chosen->gid));
    finding.remedy = "set NCCL_IB_ADDR_FAMILY=AF_INET6 for jobs on this fabric";
    return finding;
  }
  const bool unnamed = std::any_of(port.gids->begin(), port.gids->end(), [](const rdma::GidEntry& entry) { return entry.type.empty(); });
  finding.verdict = unnamed ? Verdict::Unknown : Verdict::Fail;
  finding.seen = port.gids->empty() ? "no GID" : fmt::format("{} GIDs, none of them usable", port.gids->size());
  if (unnamed) finding.message = "the kernel does not say the type of some GIDs: they belong to another network namespace";
  finding.remedy = fmt::format("give {} an IP address", port.netdev.empty() ? "its interface" : port.netdev);
  return finding;
}

// The operator goes by the ports that a report shows. What has no room in it is not known to it.
void judge_room(const std::vector<RdmaPort>& ports, const JudgeInput& input, std::vector<Finding>& findings) {
  const auto expected = std::count_if(ports.begin(), ports.end(), [&](const RdmaPort& port) { return is_expected(port, input); });
  const auto hardware = std::count_if(ports.begin(), ports.end(), [](const RdmaPort& port) { return port.hardware; });
  constexpr auto kRoom = static_cast<std::ptrdiff_t>(kMostShown);
  if (expected <= kRoom && (fabric_is_declared(input.spec.expectations) || hardware <= kRoom)) return;
  findings.push_back({.check = "rdma-port-state",
                      .verdict = expected > kRoom ? Verdict::Unknown : Verdict::Skipped,
                      .subject = {},
                      .seen = fmt::format("{} RDMA ports", std::max(expected, hardware)),
                      .wanted = fmt::format("at most {}", kMostShown),
                      .remedy = "name the interfaces that jobs use in the policy (fabricInterfaces), without virtual functions",
                      .message = "the report has no room for all of them, some are left out"});
}

}  // namespace

std::vector<Finding> judge_rdma(const JudgeInput& input) {
  std::vector<Finding> findings;
  const auto& ports = input.observation.rdma;
  if (!ports) {
    for (const char* check : {"rdma-device-count", "rdma-port-state", "rdma-port-rate", "mtu-roce-active", "roce-gid"}) {
      findings.push_back({.check = check, .verdict = Verdict::Unknown, .message = ports.error()});
    }
    return findings;
  }
  findings.push_back(judge_count(*ports, input));
  bool any_expected = false;
  bool any_roce = false;
  for (const RdmaPort& port : *ports) {
    const bool expected = is_expected(port, input);
    findings.push_back(judge_state(port, expected));
    if (!expected) continue;
    any_expected = true;
    findings.push_back(judge_rate(port, input));
    if (!port.link_layer) {
      for (const char* check : {"mtu-roce-active", "roce-gid"}) {
        findings.push_back({.check = check, .verdict = Verdict::Unknown, .subject = subject_of(port), .message = port.link_layer.error()});
      }
    }
    if (!is_ethernet(port)) continue;
    any_roce = true;
    findings.push_back(judge_active_mtu(port, input));
    findings.push_back(judge_gid(port));
  }
  judge_room(*ports, input, findings);
  const std::string why = ports->empty() ? "no RDMA device" : "no RDMA port is declared";
  const auto skip = [&](const char* check, const std::string& reason) {
    if (std::none_of(findings.begin(), findings.end(), [&](const Finding& one) { return one.check == check; })) {
      findings.push_back({.check = check, .verdict = Verdict::Skipped, .message = reason});
    }
  };
  skip("rdma-port-state", why);
  if (!any_expected) skip("rdma-port-rate", why);
  if (!any_roce) {
    // A minimum for RoCE was declared and there is no RoCE port to hold it against: nobody can say that it holds.
    const bool declared = input.spec.expectations.thresholds.rdma_mtu_min.has_value();
    const bool infiniband = any_expected;
    if (declared && !infiniband) {
      findings.push_back({.check = "mtu-roce-active", .verdict = Verdict::Unknown, .seen = why, .wanted = "RoCE ports to judge",
                          .remedy = "name the fabric in the policy (fabricInterfaces, inventory.rdmaDevices), or drop rdmaMTUMin"});
    } else {
      skip("mtu-roce-active", infiniband ? "no RoCE port: InfiniBand" : why);
    }
    skip("roce-gid", infiniband ? "no RoCE port: InfiniBand" : why);
  }
  return findings;
}

}  // namespace verl::agent
