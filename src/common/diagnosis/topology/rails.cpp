#include "diagnosis/topology/rails.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "diagnosis/fabric/names.h"
#include "diagnosis/topology/model.h"

namespace verl::topology {
namespace {

// Why a device is no rail; empty: it is one, as far as its ports are known.
std::string why_not(const fabric::Facts& fabric, const std::string& device) {
  std::string why;
  for (const fabric::Port& port : fabric.ports) {
    if (port.device != device) continue;
    const fabric::Interface* netdev = port.netdev.empty() ? nullptr : fabric::interface_named(fabric, port.netdev);
    const bool bond = port.netdev.starts_with("bond") || (netdev != nullptr && (netdev->kind == fabric::InterfaceKind::Bond || !netdev->master.empty()));
    if (bond) {
      why = "member of " + (netdev != nullptr && !netdev->master.empty() ? netdev->master : port.netdev);
    } else if (!port.state.empty() && port.state != "ACTIVE") {
      why = "port " + std::to_string(port.port) + " is " + port.state;
    } else if (port.state.empty() && port.netdev_up == false) {
      why = port.netdev + " is down";
    } else {
      return {};  // one good port is enough
    }
  }
  return why;
}

}  // namespace

Rails rail_devices(const Facts& topology, const fabric::Facts& fabric) {
  Rails rails;
  if (topology.gpus.empty() || topology.nics.empty()) {
    rails.why_unknown = topology.gpus.empty() ? "no GPU is known" : "no NIC is known";
    return rails;
  }
  const Relations relations(topology);
  std::set<std::string> near;
  for (const Gpu& gpu : topology.gpus) {
    const Nearest nearest = nearest_nics(topology, relations, label_of(gpu));
    if (nearest.link == Link::Unknown) {
      rails.why_unknown = "no relation of " + label_of(gpu) + " to a NIC is known";
      return rails;
    }
    if (nearest.link < Link::Sys) near.insert(nearest.nics.begin(), nearest.nics.end());
  }
  for (const Nic& nic : topology.nics) {
    if (!nic.device.empty()) {
      const std::string why = why_not(fabric, nic.device);
      if (!why.empty()) {
        rails.left_out.emplace_back(nic.device, why);
        continue;
      }
    }
    if (near.count(nic.label) == 0) continue;
    if (nic.device.empty()) {
      rails.devices.clear();
      rails.why_unknown = "the device of " + nic.label + " is not named";
      return rails;
    }
    rails.devices.push_back(nic.device);
  }
  std::sort(rails.devices.begin(), rails.devices.end(), fabric::natural_less);
  rails.devices.erase(std::unique(rails.devices.begin(), rails.devices.end()), rails.devices.end());
  if (rails.devices.empty()) rails.why_unknown = "no NIC is near a GPU";
  return rails;
}

std::string hca_list(const std::vector<std::string>& devices) { return devices.empty() ? std::string{} : "=" + join(devices, ","); }

}  // namespace verl::topology
