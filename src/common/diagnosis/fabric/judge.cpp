// What interfaces and ports of one node say together, and where nodes differ. Active MTU between nodes is judged with NCCL's
// rules, since its version decides what a difference does.
#include "diagnosis/judge.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "diagnosis/fabric/judge.h"
#include "diagnosis/fabric/names.h"
#include "diagnosis/fabric/siblings.h"
#include "diagnosis/rule.h"
#include "diagnosis/topology/rails.h"

namespace verl::fabric {

diagnosis::Finding about(std::string_view id, std::string subject, const Lines& lines, const std::string& field) {
  diagnosis::Finding finding = diagnosis::finding_of(id, std::move(subject));
  if (const auto line = lines.find(field); line != lines.end() && line->second.line > 0) finding.evidence.push_back(line->second);
  return finding;
}

}  // namespace verl::fabric

namespace verl::diagnosis {
namespace {

using fabric::Port;

// A value, and the nodes that have it.
using Groups = std::map<std::string, std::vector<std::string>>;

std::string spoken(const Groups& groups) {
  std::vector<std::string> parts;
  for (const auto& [value, nodes] : groups) parts.push_back(value + " on " + join_some(nodes, 4));
  return join_some(parts, 6);
}

void report(const Groups& groups, std::string_view id, std::string subject, std::string_view what, Severity severity, Findings& out) {
  if (groups.size() < 2) return;
  Finding finding = finding_of(id, std::move(subject));
  finding.severity = severity;
  for (const auto& group : groups) finding.nodes.insert(finding.nodes.end(), group.second.begin(), group.second.end());
  std::sort(finding.nodes.begin(), finding.nodes.end());
  finding.seen = spoken(groups);
  finding.message = fmt::format("nodes differ in {}: {}", what, finding.seen);
  out.push_back(std::move(finding));
}

// Without a topology the ports alone tell which devices are the rails. Said only where an active port must stay out: its name
// may be the beginning of another's, which is why the list begins with "=".
void suggest_rails(const fabric::Facts& facts, Findings& out) {
  const auto rails = fabric::siblings_of(facts);
  std::vector<std::string> devices;
  for (const Port* port : rails) devices.push_back(port->device);
  std::sort(devices.begin(), devices.end(), fabric::natural_less);
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  std::vector<std::string> left_out;
  for (const Port& port : facts.ports) {
    if (fabric::is_active(port) && std::find(devices.begin(), devices.end(), port.device) == devices.end()) left_out.push_back(port.device);
  }
  if (devices.size() < 2 || left_out.empty()) return;
  Finding finding = finding_of("rails-suggested", "NCCL_IB_HCA");
  finding.seen = topology::hca_list(devices);
  finding.message = fmt::format("active RDMA devices of one link layer: NCCL_IB_HCA={}; left out: {}", finding.seen, join_some(left_out, 16));
  out.push_back(std::move(finding));
}

std::string_view layer_name(fabric::LinkLayer layer) { return layer == fabric::LinkLayer::Infiniband ? "InfiniBand" : "Ethernet"; }

}  // namespace

void judge_fabric(const NodeFacts& node, const Policy& policy, Findings& out) {
  fabric::judge_ports(node.fabric, policy, out);
  fabric::judge_interfaces(node.fabric, policy, out);
  fabric::judge_counters(node.fabric, policy, out);
  if (node.topology.gpus.empty() || node.topology.nics.empty()) suggest_rails(node.fabric, out);
}

void compare_fabric(const Fleet& fleet, const Policy& policy, Findings& out) {
  Groups counts;
  Groups rates;
  Groups layers;
  Groups mtus;
  std::map<std::string, Groups> firmware;
  for (const auto& [name, node] : fleet) {
    const auto ports = fabric::siblings_of(node.fabric);
    if (!ports.empty()) counts[std::to_string(ports.size())].push_back(name);
    if (const auto rate = fabric::common_rate(ports)) rates[fmt::format("{:g} Gb/s", *rate)].push_back(name);
    if (!ports.empty() && ports.front()->link_layer != fabric::LinkLayer::Unknown) layers[std::string(layer_name(ports.front()->link_layer))].push_back(name);
    std::map<std::string, std::set<std::string>> own;
    for (const Port* port : ports) {
      if (!port->model.empty() && !port->firmware.empty()) own[port->model].insert(port->firmware);
    }
    for (const auto& [model, versions] : own) firmware[model][join(std::vector<std::string>(versions.begin(), versions.end()), "+")].push_back(name);
    std::set<std::int32_t> sizes;
    for (const fabric::Interface& interface : node.fabric.interfaces) {
      if (interface.mtu && fabric::is_fabric_interface(interface, node.fabric, policy)) sizes.insert(*interface.mtu);
    }
    if (!sizes.empty()) mtus[std::to_string(*sizes.begin())].push_back(name);
  }
  report(layers, "fabric-differs", "link layer", "the link layer of their RDMA ports", Severity::Error, out);
  report(counts, "fabric-differs", "ports", "the number of active RDMA ports", Severity::Warning, out);
  report(rates, "fabric-differs", "rate", "the rate of their RDMA ports", Severity::Warning, out);
  report(mtus, "mtu-interface", "MTU", "the MTU of their fabric interfaces", Severity::Warning, out);
  for (const auto& [model, groups] : firmware) report(groups, "rdma-firmware", model, "the firmware of " + model, Severity::Warning, out);
}

}  // namespace verl::diagnosis
