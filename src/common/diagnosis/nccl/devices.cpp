#include "diagnosis/nccl/devices.h"

#include <algorithm>

#include "base/broken_invariant.h"
#include "base/text.h"
#include "diagnosis/fabric/names.h"

namespace verl::nccl {
namespace {

bool before(const fabric::Port* a, const fabric::Port* b) {
  return a->device == b->device ? a->port < b->port : fabric::natural_less(a->device, b->device);
}

}  // namespace

fabric::LinkLayer layer_of(const fabric::Port& port, const fabric::Facts& facts) {
  if (port.link_layer != fabric::LinkLayer::Unknown || port.netdev.empty()) return port.link_layer;
  const fabric::Interface* interface = fabric::interface_named(facts, port.netdev);
  const bool said = interface && interface->kind != fabric::InterfaceKind::Unknown;
  const fabric::InterfaceKind kind = said ? interface->kind : fabric::kind_of_name(port.netdev);
  return kind == fabric::InterfaceKind::Infiniband ? fabric::LinkLayer::Infiniband : fabric::LinkLayer::Ethernet;
}

Life life_of(const fabric::Port& port, const fabric::Facts& facts) {
  if (!port.state.empty()) return port.state == "ACTIVE" ? Life::Alive : Life::Dead;
  if (layer_of(port, facts) != fabric::LinkLayer::Ethernet) return Life::Unknown;
  const fabric::Interface* interface = port.netdev.empty() ? nullptr : fabric::interface_named(facts, port.netdev);
  if (interface && interface->running) return *interface->running ? Life::Alive : Life::Dead;
  if (port.netdev_up) return *port.netdev_up ? Life::Alive : Life::Dead;
  if (interface && interface->up == false) return Life::Dead;
  return Life::Unknown;
}

Devices devices_of(const fabric::Facts& facts, std::string_view list, std::optional<Version> version) {
  constexpr Version kMoreDevices = nccl::version(2, 18, 5);
  const std::size_t most = version && *version < kMoreDevices ? 16 : kMostDevices;
  Devices devices;
  devices.listed = !list.empty();
  devices.list = parse_selection(list, most);
  for (const fabric::Port& port : facts.ports) {
    if (selects(devices.list, port.device, port.port)) devices.selected.push_back(&port);
  }
  std::sort(devices.selected.begin(), devices.selected.end(), before);
  for (const fabric::Port* port : devices.selected) {
    const Life life = life_of(*port, facts);
    if (life == Life::Alive && devices.alive.size() < most) devices.alive.push_back(port);
    if (life == Life::Unknown) devices.unknown.push_back(port);
  }
  return devices;
}

Devices devices_of(const Situation& situation) {
  return devices_of(situation.node->fabric, text_of(situation, "NCCL_IB_HCA").value_or(""), situation.version);
}

std::vector<const fabric::Port*> rails_of(const Devices& devices, const fabric::Facts& facts) {
  std::vector<const fabric::Port*> hardware;
  for (const fabric::Port* port : devices.alive) {
    if (!fabric::is_software_rdma(port->device)) hardware.push_back(port);
  }
  const auto is_bond = [](const fabric::Port* port) { return fabric::is_bond_device(port->device); };
  if (!std::all_of(hardware.begin(), hardware.end(), is_bond)) hardware.erase(std::remove_if(hardware.begin(), hardware.end(), is_bond), hardware.end());
  const auto of_layer = [&](fabric::LinkLayer layer) {
    return std::count_if(hardware.begin(), hardware.end(), [&](const fabric::Port* port) { return layer_of(*port, facts) == layer; });
  };
  const auto infiniband = of_layer(fabric::LinkLayer::Infiniband);
  const auto ethernet = of_layer(fabric::LinkLayer::Ethernet);
  if (infiniband == 0 || ethernet == 0) return hardware;
  const fabric::LinkLayer lesser = infiniband >= ethernet ? fabric::LinkLayer::Ethernet : fabric::LinkLayer::Infiniband;
  hardware.erase(std::remove_if(hardware.begin(), hardware.end(), [&](const fabric::Port* port) { return layer_of(*port, facts) == lesser; }),
                 hardware.end());
  return hardware;
}

std::vector<const fabric::Port*> roce_of(const Devices& devices, const fabric::Facts& facts) {
  std::vector<const fabric::Port*> ports;
  for (const fabric::Port* port : devices.alive) {
    if (layer_of(*port, facts) == fabric::LinkLayer::Ethernet && !fabric::is_software_rdma(port->device)) ports.push_back(port);
  }
  return ports;
}

bool may_use_rdma(const Situation& situation) {
  if (is_on(situation, "NCCL_IB_DISABLE")) return false;
  std::string net = text_of(situation, "NCCL_NET").value_or("");
  std::transform(net.begin(), net.end(), net.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return net != "socket" && situation.policy->expected_network != "Socket";
}

std::string port_name(const fabric::Port& port) { return port.device + " port " + std::to_string(port.port); }

std::vector<std::string> port_names(const std::vector<const fabric::Port*>& ports) {
  std::vector<std::string> names;
  for (const fabric::Port* port : ports) names.push_back(port_name(*port));
  return names;
}

std::string_view to_string(fabric::LinkLayer layer) {
  switch (layer) {
    case fabric::LinkLayer::Unknown: return "unknown";
    case fabric::LinkLayer::Infiniband: return "InfiniBand";
    case fabric::LinkLayer::Ethernet: return "RoCE";
  }
  broken_invariant("a link layer outside its enumeration");
}

}  // namespace verl::nccl
