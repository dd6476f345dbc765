#include "diagnosis/fabric/siblings.h"

#include <algorithm>
#include <map>

#include "diagnosis/fabric/names.h"
#include "diagnosis/rdma/port.h"

namespace verl::fabric {

bool is_active(const Port& port) { return port.state == "ACTIVE" || port.state == "ACTIVE_DEFER"; }

bool is_hardware(const Port& port) { return !is_software_rdma(port.device) && !is_bond_device(port.device); }

std::vector<const Port*> siblings_of(const Facts& facts) {
  std::map<LinkLayer, std::vector<const Port*>> of;
  for (const Port& port : facts.ports) {
    if (is_active(port) && is_hardware(port)) of[port.link_layer].push_back(&port);
  }
  std::vector<const Port*> most;
  for (const LinkLayer layer : {LinkLayer::Infiniband, LinkLayer::Ethernet, LinkLayer::Unknown}) {
    if (of[layer].size() > most.size()) most = of[layer];
  }
  return most;
}

std::optional<double> common_rate(const std::vector<const Port*>& ports) {
  std::map<double, int> count;
  for (const Port* port : ports) {
    if (port->rate_gbps) ++count[*port->rate_gbps];
  }
  const auto fewer = [](const auto& a, const auto& b) { return a.second != b.second ? a.second < b.second : a.first < b.first; };
  const auto most = std::max_element(count.begin(), count.end(), fewer);
  return most == count.end() ? std::nullopt : std::optional(most->first);
}

bool is_named(const Interface& interface, const diagnosis::Policy& policy) {
  return std::any_of(policy.fabric_interfaces.begin(), policy.fabric_interfaces.end(), [&](const std::string& name) {
    return name.ends_with('*') ? interface.name.starts_with(name.substr(0, name.size() - 1)) : interface.name == name;
  });
}

bool is_fabric_interface(const Interface& interface, const Facts& facts, const diagnosis::Policy& policy) {
  if (interface.kind == InterfaceKind::Infiniband || interface.kind == InterfaceKind::Loopback) return false;
  if (!policy.fabric_interfaces.empty()) return is_named(interface, policy);
  return std::any_of(facts.ports.begin(), facts.ports.end(), [&](const Port& port) {
    return port.netdev == interface.name && !is_software_rdma(port.device) && port.state != "DOWN" && port.link_layer != LinkLayer::Infiniband;
  });
}

std::optional<ActiveMtu> active_mtu(const Port& port, const Facts& facts) {
  ActiveMtu mtu;
  if (port.active_mtu) {
    mtu.bytes = *port.active_mtu;
    return mtu;
  }
  const Interface* interface = port.netdev.empty() ? nullptr : interface_named(facts, port.netdev);
  if (!interface || !interface->mtu || port.link_layer == LinkLayer::Infiniband) return std::nullopt;
  mtu.bytes = rdma::roce_mtu(*interface->mtu);
  mtu.derived = true;
  return mtu;
}

}  // namespace verl::fabric
