#include "node-agent/checks/scope.h"

#include <algorithm>

namespace verl::agent {

bool matches(const std::string& pattern, const std::string& name) {
  if (pattern.ends_with('*')) return name.starts_with(std::string_view(pattern).substr(0, pattern.size() - 1));
  return pattern == name;
}

bool fabric_is_declared(const api::Expectations& expectations) {
  const api::Thresholds& limits = expectations.thresholds;
  return !expectations.fabric_interfaces.empty() || expectations.inventory.rdma_devices || limits.mtu_min || limits.rdma_mtu_min ||
         limits.link_gbps_min;
}

bool is_fabric(const Interface& interface, const JudgeInput& input) {
  const auto& declared = input.spec.expectations.fabric_interfaces;
  if (!declared.empty()) {
    return std::any_of(declared.begin(), declared.end(), [&](const std::string& pattern) { return matches(pattern, interface.name); });
  }
  const auto& ports = input.observation.rdma;
  return ports && std::any_of(ports->begin(), ports->end(),
                              [&](const RdmaPort& port) { return port.hardware && port.netdev == interface.name; });
}

bool is_control(const Interface& interface, const JudgeInput& input) {
  const std::string& declared = input.spec.expectations.control_interface;
  if (!declared.empty()) return declared == interface.name;
  const auto& address = input.spec.address;
  return !address.empty() && std::find(interface.addresses.begin(), interface.addresses.end(), address) != interface.addresses.end();
}

bool is_expected(const RdmaPort& port, const JudgeInput& input) {
  if (!port.hardware || !fabric_is_declared(input.spec.expectations)) return false;
  const auto& named = input.spec.expectations.fabric_interfaces;
  // A port without a network interface (InfiniBand without IP) cannot be left out by naming interfaces.
  return named.empty() || port.netdev.empty() ||
         std::any_of(named.begin(), named.end(), [&](const std::string& pattern) { return matches(pattern, port.netdev); });
}

const Interface* find_interface(const JudgeInput& input, const std::string& name) {
  if (!input.observation.interfaces) return nullptr;
  const auto& all = *input.observation.interfaces;
  const auto found = std::find_if(all.begin(), all.end(), [&](const Interface& one) { return one.name == name; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace verl::agent
