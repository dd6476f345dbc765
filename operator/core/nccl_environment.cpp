#include "operator/core/nccl_environment.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "diagnosis/nccl/lint.h"

namespace verl::core {
namespace {

bool carries(std::string_view link_layer, api::Transport transport) {
  if (transport == api::Transport::RoCE) return link_layer == "Ethernet";
  if (transport == api::Transport::InfiniBand) return link_layer == "InfiniBand";
  return transport == api::Transport::Any;
}

}  // namespace

std::string control_interface(const api::NodeReadiness& report) {
  const auto& interfaces = report.status.interfaces;
  const auto found = std::find_if(interfaces.begin(), interfaces.end(), [](const api::InterfaceStatus& i) { return i.control; });
  return found == interfaces.end() ? "" : found->name;
}

std::vector<std::string> rdma_ports(const api::NodeReadiness& report, api::Transport transport) {
  const std::string control = control_interface(report);
  std::vector<std::string> ports;
  std::vector<std::string> control_ports;
  for (const api::RdmaPortStatus& port : report.status.rdma) {
    if (port.state != "ACTIVE" || !carries(port.link_layer, transport)) continue;
    const std::string name = fmt::format("{}:{}", port.device, port.port);
    // A port on the control interface shares its wire with Ray; it is a rail only where there is no other.
    (!control.empty() && port.netdev == control ? control_ports : ports).push_back(name);
  }
  std::vector<std::string>& chosen = ports.empty() ? control_ports : ports;
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

std::map<std::string, std::string> nccl_environment(const api::VerlJobSpec& spec, const api::NodeReadiness& report) {
  std::map<std::string, std::string> env{{"NCCL_DEBUG", spec.nccl_debug}};
  const std::string control = control_interface(report);
  if (!control.empty()) {
    env["NCCL_SOCKET_IFNAME"] = "=" + control;  // "=" is an exact name; without it NCCL matches prefixes
    env["GLOO_SOCKET_IFNAME"] = control;        // Gloo knows one concrete name and no such syntax
  }
  if (spec.network.transport == api::Transport::TCP) {
    env["NCCL_IB_DISABLE"] = "1";
  } else {
    const auto ports = rdma_ports(report, spec.network.transport);
    if (!ports.empty()) env["NCCL_IB_HCA"] = "=" + join(ports, ",");
  }
  for (const auto& [name, value] : spec.nccl_env) env[name] = value;
  return env;
}

std::vector<std::string> nccl_env_problems(const std::map<std::string, std::string>& nccl_env) {
  constexpr std::array<std::string_view, 4> kPrefixes{"NCCL_", "GLOO_", "TORCH_NCCL_", "UCX_"};
  std::vector<std::string> problems;
  for (const auto& entry : nccl_env) {
    const bool known = std::any_of(kPrefixes.begin(), kPrefixes.end(), [&](std::string_view p) { return entry.first.starts_with(p); });
    if (!known) {
      problems.push_back(fmt::format("spec.nccl.env[{}]: only NCCL_, TORCH_NCCL_, GLOO_ and UCX_ variables belong here; put others into the pool's template",
                                     escape_controls(entry.first)));
    }
  }
  // What NCCL would read otherwise than it is written, or not at all, would show as a hang on all nodes at once.
  nccl::Environment environment;
  environment.kind = nccl::EnvironmentKind::VerlJob;
  for (const auto& [name, value] : nccl_env) environment.settings.push_back({.setting = {.name = name, .value = value}, .source = {}, .line = 0});
  diagnosis::NodeFacts facts;
  facts.nccl.environments.push_back(std::move(environment));
  diagnosis::Findings findings;
  nccl::lint_settings(facts, {}, findings);
  for (const diagnosis::Finding& one : findings) {
    if (one.severity != diagnosis::Severity::Error || !nccl_env.contains(one.subject)) continue;
    problems.push_back(fmt::format("spec.nccl.env[{}]: {} ({}); {}", escape_controls(one.subject), escape_controls(one.message), one.id, escape_controls(one.remedy)));
  }
  return problems;
}

}  // namespace verl::core
