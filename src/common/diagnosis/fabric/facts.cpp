#include "diagnosis/fabric/facts.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace verl::fabric {
namespace {

template <class T>
void keep_first(std::optional<T>& into, std::optional<T> more) {
  if (!into) into = std::move(more);
}

template <class T>
void keep_first(std::vector<T>& into, std::vector<T> more) {
  if (into.empty()) into = std::move(more);
}

void keep_first(std::string& into, std::string more) {
  if (into.empty()) into = std::move(more);
}

void merge(Interface& into, Interface more) {
  if (into.kind == InterfaceKind::Unknown) into.kind = more.kind;
  keep_first(into.up, more.up);
  keep_first(into.running, more.running);
  keep_first(into.mtu, more.mtu);
  keep_first(into.speed_mbps, more.speed_mbps);
  keep_first(into.master, std::move(more.master));
  keep_first(into.addresses, std::move(more.addresses));
  keep_first(into.configured_mtu, more.configured_mtu);
  keep_first(into.configured_speed_mbps, more.configured_speed_mbps);
  keep_first(into.duplex, std::move(more.duplex));
  keep_first(into.driver, std::move(more.driver));
  keep_first(into.driver_version, std::move(more.driver_version));
  keep_first(into.firmware, std::move(more.firmware));
  keep_first(into.pci, std::move(more.pci));
  into.lines.merge(more.lines);
}

void merge(Port& into, Port more) {
  if (into.link_layer == LinkLayer::Unknown) into.link_layer = more.link_layer;
  keep_first(into.state, std::move(more.state));
  keep_first(into.physical_state, std::move(more.physical_state));
  keep_first(into.rate_gbps, more.rate_gbps);
  keep_first(into.rate_text, std::move(more.rate_text));
  keep_first(into.active_mtu, more.active_mtu);
  keep_first(into.max_mtu, more.max_mtu);
  keep_first(into.lid, more.lid);
  keep_first(into.sm_lid, more.sm_lid);
  keep_first(into.netdev, std::move(more.netdev));
  keep_first(into.netdev_up, more.netdev_up);
  keep_first(into.gids, std::move(more.gids));
  into.counters.merge(more.counters);
  keep_first(into.firmware, std::move(more.firmware));
  keep_first(into.pci, std::move(more.pci));
  keep_first(into.model, std::move(more.model));
  into.lines.merge(more.lines);
}

}  // namespace

void merge(Facts& into, Facts more) {
  for (Interface& one : more.interfaces) {
    const auto known = std::find_if(into.interfaces.begin(), into.interfaces.end(), [&](const Interface& other) { return other.name == one.name; });
    if (known == into.interfaces.end()) {
      into.interfaces.push_back(std::move(one));
    } else {
      merge(*known, std::move(one));
    }
  }
  for (Port& one : more.ports) {
    const auto known = std::find_if(into.ports.begin(), into.ports.end(),
                                    [&](const Port& other) { return other.device == one.device && other.port == one.port; });
    if (known == into.ports.end()) {
      into.ports.push_back(std::move(one));
    } else {
      merge(*known, std::move(one));
    }
  }
  std::move(more.snapshots.begin(), more.snapshots.end(), std::back_inserter(into.snapshots));
}

const Interface* interface_named(const Facts& facts, const std::string& name) {
  const auto found = std::find_if(facts.interfaces.begin(), facts.interfaces.end(), [&](const Interface& one) { return one.name == name; });
  return found == facts.interfaces.end() ? nullptr : &*found;
}

const Port* port_of(const Facts& facts, const std::string& device, std::int32_t port) {
  const auto found = std::find_if(facts.ports.begin(), facts.ports.end(), [&](const Port& one) { return one.device == device && one.port == port; });
  return found == facts.ports.end() ? nullptr : &*found;
}

}  // namespace verl::fabric
