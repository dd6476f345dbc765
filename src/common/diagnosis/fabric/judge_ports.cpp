// RDMA ports of one node: which are up and why not, how many, how fast, with which MTU and which addresses.
#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "diagnosis/fabric/judge.h"
#include "diagnosis/fabric/names.h"
#include "diagnosis/fabric/siblings.h"
#include "diagnosis/fabric/store.h"
#include "diagnosis/rdma/port.h"
#include "diagnosis/rule.h"

namespace verl::fabric {
namespace {

using diagnosis::Finding;
using diagnosis::Severity;

constexpr std::int32_t kFullMtu = 4096;

Finding about(std::string_view id, const Port& port, const std::string& field) { return fabric::about(id, port_name(port), port.lines, field); }

bool wanted_by_name(const Port& port, const Facts& facts, const Policy& policy) {
  const Interface* interface = port.netdev.empty() ? nullptr : interface_named(facts, port.netdev);
  return interface && is_named(*interface, policy);
}

void judge_down(const Port& port, bool wanted, Findings& out) {
  if (port.physical_state == "Disabled") {
    Finding finding = about(wanted ? "rdma-port-state" : "rdma-port-unused", port, "physical_state");
    finding.seen = port.state + ", Disabled";
    finding.message = port_name(port) + " is switched off (Disabled)" + (wanted ? ", and the policy names its interface" : ": an unused port");
    out.push_back(std::move(finding));
    return;
  }
  Finding finding = about("rdma-port-state", port, port.physical_state.empty() ? "state" : "physical_state");
  if (!wanted) finding.severity = Severity::Warning;
  finding.seen = port.state + (port.physical_state.empty() ? "" : ", " + port.physical_state);
  finding.wanted = "ACTIVE";
  finding.message = port_name(port) + (port.physical_state == "Polling" ? " is enabled and finds no link partner (Polling): no cable, or the peer is down"
                                       : port.physical_state.empty()   ? " is down; why is not said"
                                                                       : " is down (" + port.physical_state + ")");
  out.push_back(std::move(finding));
}

void judge_states(const Facts& facts, const Policy& policy, Findings& out) {
  std::vector<std::string> down;
  bool active = false;
  for (const Port& port : facts.ports) {
    if (port.state.empty() || is_software_rdma(port.device)) continue;
    active = active || is_active(port);
    if (is_active(port)) continue;
    down.push_back(port_name(port));
    if (port.state == "DOWN" || port.state == "NOP") {
      judge_down(port, wanted_by_name(port, facts, policy), out);
      continue;
    }
    Finding finding = about("rdma-port-state", port, "state");
    finding.seen = port.state;
    finding.wanted = "ACTIVE";
    const bool manager = port.state == "INIT" && port.link_layer != LinkLayer::Ethernet && port.sm_lid.value_or(0) == 0;
    finding.message = port_name(port) + " stands at " + port.state + (manager ? ": the link is up, no subnet manager has configured it" : "");
    out.push_back(std::move(finding));
  }
  if (active || down.empty()) return;
  Finding finding = diagnosis::finding_of("rdma-port-state", "all ports");
  finding.seen = fmt::format("{} ports, none active", down.size());
  finding.wanted = "ACTIVE";
  finding.message = "no RDMA port of the node is active: " + join_some(down, 12);
  out.push_back(std::move(finding));
}

void judge_count(const Facts& facts, const Policy& policy, Findings& out) {
  std::set<std::string> software;
  for (const Port& port : facts.ports) {
    if (is_software_rdma(port.device)) software.insert(port.device);
  }
  if (!software.empty() && !policy.software_rdma) {
    Finding finding = diagnosis::finding_of("rdma-software", join_some({software.begin(), software.end()}, 8));
    finding.seen = finding.subject;
    finding.message = finding.subject + " emulates RDMA in software and counts for nothing";
    out.push_back(std::move(finding));
  }
  if (!policy.rdma_devices || facts.ports.empty()) return;
  std::set<std::string> active;
  for (const Port* port : siblings_of(facts)) active.insert(port->device);
  std::set<std::string> unsaid;
  for (const Port& port : facts.ports) {
    if (port.state.empty() && is_hardware(port) && !active.contains(port.device)) unsaid.insert(port.device);
    if (policy.software_rdma && is_software_rdma(port.device) && is_active(port)) active.insert(port.device);
  }
  const auto wanted = static_cast<std::size_t>(std::max(0, *policy.rdma_devices));
  if (active.size() >= wanted) return;
  Finding finding = diagnosis::finding_of("rdma-device-count", "RDMA devices");
  finding.seen = std::to_string(active.size());
  finding.wanted = std::to_string(wanted);
  finding.message = fmt::format("{} active RDMA devices of one link layer, {} wanted", active.size(), wanted);
  if (active.size() + unsaid.size() >= wanted) {
    finding.severity = Severity::Unknown;
    finding.message += fmt::format("; the state of {} more is not said", unsaid.size());
    finding.remedy = "add ibstat, ibv_devinfo or the files below /sys/class/infiniband";
  }
  out.push_back(std::move(finding));
}

// "4X NDR": 4 and NDR.
std::string width_of(const Port& port) { return port.rate_text.substr(0, port.rate_text.find(' ')); }
std::string speed_of(const Port& port) {
  const std::size_t blank = port.rate_text.find(' ');
  return blank == std::string::npos ? "" : port.rate_text.substr(blank + 1);
}

Finding slow(const Port& port, double wanted, std::string_view why) {
  Finding finding = about("rdma-port-rate", port, "rate");
  finding.seen = fmt::format("{:g} Gb/s", *port.rate_gbps) + (port.rate_text.empty() ? "" : " (" + port.rate_text + ")");
  finding.wanted = fmt::format("{:g} Gb/s", wanted);
  finding.message = fmt::format("{} runs at {}, {:g} Gb/s {}", port_name(port), finding.seen, wanted, why);
  return finding;
}

// Slower than most of its kind. Half of them, or fewer lanes at the same speed, is a fault; other rates may be another card.
void judge_sibling(const Port& port, const std::vector<const Port*>& ports, double common, Findings& out) {
  const auto peer = std::find_if(ports.begin(), ports.end(), [&](const Port* one) { return one->rate_gbps == common; });
  if (peer == ports.end() || *port.rate_gbps >= common) return;
  if (!port.model.empty() && !(*peer)->model.empty() && port.model != (*peer)->model) return;
  const bool lanes = !speed_of(port).empty() && speed_of(port) == speed_of(**peer) && width_of(port) != width_of(**peer);
  Finding finding = slow(port, common, "are usual on this node");
  finding.severity = lanes || *port.rate_gbps * 2 == common ? Severity::Warning : Severity::Info;
  out.push_back(std::move(finding));
}

void judge_rates(const Facts& facts, const Policy& policy, Findings& out) {
  const auto ports = siblings_of(facts);
  const auto common = common_rate(ports);
  for (const Port* port : ports) {
    if (!policy.fabric_interfaces.empty() && !port->netdev.empty() && interface_named(facts, port->netdev) && !wanted_by_name(*port, facts, policy) &&
        port->link_layer == LinkLayer::Ethernet) {
      continue;  // the policy names others
    }
    if (!port->rate_gbps) {
      if (!policy.link_gbps_min) continue;
      Finding finding = about("rdma-port-rate", *port, "state");
      finding.severity = Severity::Unknown;
      finding.wanted = fmt::format("{} Gb/s", *policy.link_gbps_min);
      finding.message = fmt::format("the rate of {} is not said, {} Gb/s are wanted", port_name(*port), *policy.link_gbps_min);
      out.push_back(std::move(finding));
      continue;
    }
    if (policy.link_gbps_min && *port->rate_gbps < *policy.link_gbps_min) {
      out.push_back(slow(*port, *policy.link_gbps_min, "are wanted"));
      continue;
    }
    // An IPoIB interface keeps the speed the adapter is built for, whatever the port negotiated.
    const Interface* interface = port->netdev.empty() ? nullptr : interface_named(facts, port->netdev);
    const double built = interface && interface->kind == InterfaceKind::Infiniband && interface->speed_mbps ? static_cast<double>(*interface->speed_mbps) / 1000 : 0;
    if (!policy.link_gbps_min && built > *port->rate_gbps) {
      Finding finding = slow(*port, built, "is what its interface names as its speed");
      finding.severity = Severity::Warning;
      out.push_back(std::move(finding));
    } else if (common) {
      judge_sibling(*port, ports, *common, out);
    }
  }
}

void judge_active_mtu(const Facts& facts, const Policy& policy, Findings& out) {
  const std::optional<std::int32_t> need = policy.gpudirect ? std::optional(std::max(kFullMtu, policy.rdma_mtu_min.value_or(0))) : policy.rdma_mtu_min;
  for (const Port& port : facts.ports) {
    if (port.link_layer == LinkLayer::Infiniband || is_software_rdma(port.device) || (!port.state.empty() && !is_active(port))) continue;
    const Interface* interface = port.netdev.empty() ? nullptr : interface_named(facts, port.netdev);
    if (port.link_layer == LinkLayer::Unknown && (!interface || interface->kind == InterfaceKind::Infiniband)) continue;
    const auto mtu = active_mtu(port, facts);
    if (!mtu) {
      if (!need) continue;
      Finding finding = about("mtu-roce-active", port, "link_layer");
      finding.severity = Severity::Unknown;
      finding.wanted = std::to_string(*need);
      finding.message = fmt::format("the active MTU of {} is not said and its interface's MTU neither; {} is needed", port_name(port), *need);
      finding.remedy = "add ibv_devinfo, or ip address";
      out.push_back(std::move(finding));
      continue;
    }
    const std::string netdev = interface && interface->mtu ? fmt::format(" (interface {}: MTU {})", interface->name, *interface->mtu) : std::string();
    const std::int32_t allowed = interface && interface->mtu ? rdma::roce_mtu(*interface->mtu) : 0;
    if (mtu->bytes < need.value_or(kFullMtu)) {
      Finding finding = about("mtu-roce-active", port, mtu->derived ? "netdev" : "active_mtu");
      if (!need) finding.severity = Severity::Warning;
      finding.seen = std::to_string(mtu->bytes) + (mtu->derived ? " (derived)" : "");
      finding.wanted = std::to_string(need.value_or(kFullMtu));
      finding.message = fmt::format("active MTU of {} is {}{}; {} {}, that is an interface MTU of at least {}{}", port_name(port), mtu->bytes, netdev, need.value_or(kFullMtu),
                                    need ? "is needed" : "is the most", rdma::netdev_mtu_for(need.value_or(kFullMtu)),
                                    need.value_or(kFullMtu) == kFullMtu ? " (guides say 4200)" : "");
      out.push_back(std::move(finding));
    }
    if (!mtu->derived && mtu->bytes < allowed && port.max_mtu.value_or(kFullMtu) > mtu->bytes) {
      Finding finding = about("mtu-roce-stale", port, "active_mtu");
      finding.seen = std::to_string(mtu->bytes);
      finding.wanted = std::to_string(allowed);
      finding.message = fmt::format("active MTU of {} is {}, its interface {} with MTU {} allows {}", port_name(port), mtu->bytes, interface->name, *interface->mtu, allowed);
      out.push_back(std::move(finding));
    }
  }
}

void judge_gids(const Facts& facts, Findings& out) {
  std::vector<const Port*> without;
  bool any = false;
  for (const Port& port : facts.ports) {
    const bool down = (!port.state.empty() && !is_active(port)) || port.netdev_up == false;
    if (port.gids.empty() || port.link_layer != LinkLayer::Ethernet || down) continue;
    const auto usable = [](const rdma::GidEntry& one) { return rdma::usable(one); };
    const bool untold = std::all_of(port.gids.begin(), port.gids.end(), [](const rdma::GidEntry& one) { return one.type.empty(); });
    if (untold) continue;
    if (std::none_of(port.gids.begin(), port.gids.end(), usable)) {
      without.push_back(&port);
      continue;
    }
    any = true;
    if (std::any_of(port.gids.begin(), port.gids.end(), [&](const rdma::GidEntry& one) { return usable(one) && rdma::is_ipv4(one.gid); })) continue;
    Finding finding = about("roce-gid-ipv4", port, "gid " + std::to_string(port.gids.front().index));
    finding.message = port_name(port) + " has no IPv4 GID: RoCE v2 over IPv4 is impossible on it";
    out.push_back(std::move(finding));
  }
  for (const Port* port : without) {
    Finding finding = about("roce-gid", *port, "gid " + std::to_string(port->gids.front().index));
    if (any) finding.severity = Severity::Warning;
    finding.seen = fmt::format("{} GIDs, none a routable RoCE v2 address", port->gids.size());
    finding.message = port_name(*port) + " has no IPv4 GID and no routable IPv6 one: RoCE v2 over IPv4 is impossible on it, no GID index is right for it";
    out.push_back(std::move(finding));
  }
}

void judge_managers(const Facts& facts, Findings& out) {
  for (const Port& port : facts.ports) {
    if (!is_active(port) || !port.lid || !port.sm_lid || *port.lid == 0 || port.lid != port.sm_lid) continue;
    Finding finding = about("rdma-subnet-manager", port, "sm_lid");
    finding.seen = fmt::format("lid {}, SM lid {}", *port.lid, *port.sm_lid);
    finding.message = fmt::format("{} is itself the subnet manager: base lid {} equals SM lid {}", port_name(port), *port.lid, *port.sm_lid);
    out.push_back(std::move(finding));
  }
}

}  // namespace

void judge_ports(const Facts& facts, const Policy& policy, Findings& out) {
  judge_states(facts, policy, out);
  judge_count(facts, policy, out);
  judge_rates(facts, policy, out);
  judge_active_mtu(facts, policy, out);
  judge_gids(facts, out);
  judge_managers(facts, out);
}

}  // namespace verl::fabric
