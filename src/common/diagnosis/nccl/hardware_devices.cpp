// NCCL_IB_DISABLE and NCCL_IB_HCA against the RDMA ports of the node.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/text.h"
#include "diagnosis/fabric/names.h"
#include "diagnosis/nccl/devices.h"
#include "diagnosis/nccl/hardware.h"

namespace verl::nccl {
namespace {

using diagnosis::Finding;
using diagnosis::Findings;
using diagnosis::Severity;

constexpr size_t kShown = 8;

std::string shown(const std::vector<const fabric::Port*>& ports) { return join_some(port_names(ports), kShown); }

std::string state_of(const fabric::Port& port) {
  if (!port.state.empty()) return fmt::format("{} ({})", port_name(port), port.state);
  return port.netdev.empty() ? port_name(port) : fmt::format("{} ({} is down)", port_name(port), port.netdev);
}

// How many single-character edits apart; both are short names of devices.
size_t distance(std::string_view a, std::string_view b) {
  if (a.size() > 64 || b.size() > 64) return 64;
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t cost = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, cost});
    }
  }
  return row[b.size()];
}

// The device a person most likely meant; empty when none is near.
std::string nearest_device(const fabric::Facts& facts, std::string_view name) {
  std::string best;
  size_t least = 3;
  for (const fabric::Port& port : facts.ports) {
    const size_t apart = distance(name, port.device);
    if (apart >= least) continue;
    least = apart;
    best = port.device;
  }
  return best;
}

std::vector<const fabric::Port*> alive_ports(const fabric::Facts& facts) { return devices_of(facts, "", std::nullopt).alive; }

void judge_disabled(const Situation& situation, Findings& out) {
  if (!is_on(situation, "NCCL_IB_DISABLE") || situation.policy->expected_network == "Socket") return;
  const fabric::Facts& fabric = situation.node->fabric;
  Devices all = devices_of(fabric, "", situation.version);
  const auto hardware = rails_of(all, fabric);
  Finding finding = finding_about(situation, "NCCL301", "NCCL_IB_DISABLE");
  finding.wanted = "unset";
  if (!hardware.empty()) {
    finding.message = fmt::format("NCCL_IB_DISABLE={} leaves {} unused, though {}: NCCL sends everything over TCP", finding.seen, shown(hardware),
                                  hardware.size() == 1 ? "the port works" : "these ports work");
    out.push_back(std::move(finding));
  } else if (situation.policy->expected_network == "IB") {
    finding.message = fmt::format("NCCL_IB_DISABLE={} switches off the network that is expected here, IB", finding.seen);
    out.push_back(std::move(finding));
  } else if (fabric.ports.empty() || !all.unknown.empty()) {
    finding.severity = Severity::Info;
    finding.message = fmt::format("NCCL_IB_DISABLE={} sends everything over TCP; whether this node has a working RDMA port is not known", finding.seen);
    out.push_back(std::move(finding));
  }
}

bool has_external_plugin(const Situation& situation) {
  const std::string plugin = text_of(situation, "NCCL_NET_PLUGIN").value_or("");
  if (plugin == "none") return false;
  if (!plugin.empty()) return true;
  if (text_of(situation, "NCCL_NET").value_or("").starts_with("IBext")) return true;
  const auto& plugins = situation.node->nccl.host.plugins;
  return plugins && std::any_of(plugins->begin(), plugins->end(), [](const std::string& name) { return name.find("libnccl-net") != std::string::npos; });
}

void judge_disabled_beside_plugin(const Situation& situation, Findings& out) {
  if (!is_on(situation, "NCCL_IB_DISABLE") || is_on(situation, "NCCL_IBEXT_DISABLE") || !has_external_plugin(situation)) return;
  std::string net = text_of(situation, "NCCL_NET").value_or("");
  if (net == "Socket" || net == "socket") return;
  Finding finding = finding_about(situation, "NCCL302", "NCCL_IB_DISABLE");
  const std::string plugin = text_of(situation, "NCCL_NET_PLUGIN").value_or("libnccl-net.so");
  finding.message = fmt::format("NCCL_IB_DISABLE={} does not reach the network plugin {}, which goes on using RDMA", finding.seen, plugin);
  out.push_back(std::move(finding));
}

// No working port at all: a reason for each that was selected.
std::string why_none(const Devices& devices) {
  if (devices.selected.empty()) return "matches no device of this node";
  std::vector<std::string> reasons;
  for (const fabric::Port* port : devices.selected) reasons.push_back(state_of(*port));
  return "selects only ports that do not work: " + join_some(reasons, kShown);
}

std::string known_devices(const fabric::Facts& facts) {
  std::set<std::string> names;
  for (const fabric::Port& port : facts.ports) names.insert(port.device);
  return join_some({names.begin(), names.end()}, kShown);
}

void suggest(const fabric::Facts& facts, Finding& finding) {
  const auto alive = alive_ports(facts);
  if (alive.empty()) {
    finding.remedy = "bring a port up first: none of this node works";
  } else {
    finding.remedy += "; working here: " + shown(alive);
  }
}

void judge_entry(const Situation& situation, const Devices& devices, const SelectionEntry& entry, Findings& out) {
  const auto of_entry = [&](const std::vector<const fabric::Port*>& ports) {
    return std::any_of(ports.begin(), ports.end(), [&](const fabric::Port* port) { return matches(devices.list, entry, port->device, port->port); });
  };
  if (of_entry(devices.alive) || of_entry(devices.unknown)) return;
  Selection alone;
  alone.entries.push_back(entry);
  Finding finding = finding_about(situation, "NCCL304", "NCCL_IB_HCA");
  finding.seen = to_string(alone);
  const fabric::Facts& fabric = situation.node->fabric;
  if (of_entry(devices.selected)) {
    Devices dead;
    std::copy_if(devices.selected.begin(), devices.selected.end(), std::back_inserter(dead.selected),
                 [&](const fabric::Port* port) { return matches(devices.list, entry, port->device, port->port); });
    finding.message = fmt::format("the entry \"{}\" of NCCL_IB_HCA {}", finding.seen, why_none(dead));
  } else {
    finding.message = fmt::format("the entry \"{}\" of NCCL_IB_HCA matches no device of this node ({})", finding.seen, known_devices(fabric));
    if (const std::string near = nearest_device(fabric, entry.name); !near.empty()) {
      finding.wanted = near;
      finding.remedy = fmt::format("write {} if that is what is meant; names are case-sensitive", near);
    }
  }
  out.push_back(std::move(finding));
}

void judge_list(const Situation& situation, const Devices& devices, Findings& out) {
  const fabric::Facts& fabric = situation.node->fabric;
  if (!devices.listed || fabric.ports.empty() || !may_use_rdma(situation)) return;
  if (devices.alive.empty()) {
    Finding finding = finding_about(situation, "NCCL303", "NCCL_IB_HCA");
    if (!devices.unknown.empty()) {
      const bool asked = std::any_of(fabric.ports.begin(), fabric.ports.end(), [&](const fabric::Port& port) { return life_of(port, fabric) != Life::Unknown; });
      if (!asked) return;  // a mere list of names: nobody asked for states
      finding.severity = Severity::Info;
      finding.message = fmt::format("NCCL_IB_HCA={} selects {}, and nothing says whether they work", finding.seen, shown(devices.unknown));
    } else {
      finding.message = fmt::format("NCCL_IB_HCA={} {}: NCCL falls back to sockets silently", finding.seen, why_none(devices));
      suggest(fabric, finding);
      if (devices.selected.empty() && devices.list.entries.size() == 1) {
        finding.wanted = nearest_device(fabric, devices.list.entries.front().name);
        if (!finding.wanted.empty()) finding.remedy += fmt::format("; the nearest name is {}", finding.wanted);
      }
    }
    out.push_back(std::move(finding));
    return;
  }
  if (devices.list.exclude) return;
  for (const SelectionEntry& entry : devices.list.entries) judge_entry(situation, devices, entry, out);
}

std::string rate_text(const fabric::Port& port) { return port.rate_gbps ? fmt::format("{} Gb/s", *port.rate_gbps) : "unknown rate"; }

// Ports that are no rails beside those that are, each with the reason.
std::vector<std::string> strangers(const Situation& situation, const Devices& devices) {
  double fastest = 0;
  for (const fabric::Port* port : devices.alive) fastest = std::max(fastest, port->rate_gbps.value_or(0));
  std::vector<std::string> reasons;
  size_t rails = 0;
  for (const fabric::Port* port : devices.alive) {
    const std::string& control = situation.policy->control_interface;
    if (fabric::is_bond_device(port->device)) {
      reasons.push_back(fmt::format("{} is a bond", port_name(*port)));
    } else if (!control.empty() && port->netdev == control) {
      reasons.push_back(fmt::format("{} belongs to {}, the control interface", port_name(*port), control));
    } else if (port->rate_gbps && *port->rate_gbps < fastest) {
      reasons.push_back(fmt::format("{} runs at {} where others run at {} Gb/s", port_name(*port), rate_text(*port), fastest));
    } else {
      ++rails;
    }
  }
  if (rails == 0) reasons.clear();
  return reasons;
}

bool mixes_layers(const Situation& situation, const Devices& devices) {
  std::set<fabric::LinkLayer> layers;
  for (const fabric::Port* port : devices.alive) layers.insert(layer_of(*port, situation.node->fabric));
  layers.erase(fabric::LinkLayer::Unknown);
  return layers.size() > 1;
}

std::string by_layer(const Situation& situation, const Devices& devices) {
  std::vector<std::string> texts;
  for (const auto layer : {fabric::LinkLayer::Infiniband, fabric::LinkLayer::Ethernet}) {
    std::vector<const fabric::Port*> ports;
    for (const fabric::Port* port : devices.alive) {
      if (layer_of(*port, situation.node->fabric) == layer) ports.push_back(port);
    }
    texts.push_back(fmt::format("{} ({})", to_string(layer), shown(ports)));
  }
  return join(texts, " and ");
}

void judge_kinds(const Situation& situation, const Devices& devices, Findings& out) {
  const bool mixed = mixes_layers(situation, devices);
  const std::vector<std::string> reasons = strangers(situation, devices);
  if (!devices.listed) {
    if (!mixed && reasons.empty()) return;
    Finding finding = finding_about(situation, "NCCL307", "NCCL_IB_HCA");
    finding.message = fmt::format("NCCL_IB_HCA is not set, so NCCL takes all {} working ports: {}", devices.alive.size(),
                                  mixed ? by_layer(situation, devices) : join_some(reasons, kShown));
    std::set<std::string> names;
    for (const fabric::Port* port : rails_of(devices, situation.node->fabric)) names.insert(port->device);
    finding.wanted = "=" + join({names.begin(), names.end()}, ",");
    out.push_back(std::move(finding));
    return;
  }
  if (mixed) {
    Finding finding = finding_about(situation, "NCCL305", "NCCL_IB_HCA");
    finding.message = fmt::format("NCCL_IB_HCA={} selects {}, which cannot talk to each other", finding.seen, by_layer(situation, devices));
    out.push_back(std::move(finding));
  } else if (!reasons.empty()) {
    Finding finding = finding_about(situation, "NCCL306", "NCCL_IB_HCA");
    finding.message = fmt::format("NCCL_IB_HCA={} selects {} ports, of which {}", finding.seen, devices.alive.size(), join_some(reasons, kShown));
    out.push_back(std::move(finding));
  }
}

void judge_access(const Situation& situation, const Devices& devices, Findings& out) {
  std::set<std::string> shut;
  for (const auto& one : situation.node->nccl.host.openable) {
    const std::string& device = one.first;
    const bool known = std::any_of(devices.selected.begin(), devices.selected.end(), [&](const fabric::Port* port) { return port->device == device; });
    if (!one.second && (known || (situation.node->fabric.ports.empty() && selects(devices.list, device)))) shut.insert(device);
  }
  if (shut.empty()) return;
  Finding finding = finding_about(situation, "NCCL308", "NCCL_IB_HCA");
  finding.message = fmt::format("{} cannot be opened in the container: NCCL goes on without", join_some({shut.begin(), shut.end()}, kShown));
  out.push_back(std::move(finding));
}

void judge_library(const Situation& situation, const Devices& devices, Findings& out) {
  const bool expected = situation.policy->expected_network == "IB" || !devices.alive.empty() || text_of(situation, "NCCL_NET") == "IB";
  if (situation.node->nccl.host.libibverbs != false || !expected) return;
  Finding finding = finding_about(situation, "NCCL309", "NCCL_NET");
  finding.subject = "libibverbs";
  finding.message = devices.alive.empty() ? "libibverbs cannot be loaded, and RDMA is expected here"
                                          : fmt::format("libibverbs cannot be loaded, so {} stay unused", shown(devices.alive));
  out.push_back(std::move(finding));
}

void judge_software(const Situation& situation, const Devices& devices, Findings& out) {
  if (situation.policy->software_rdma) return;
  std::vector<const fabric::Port*> soft;
  std::copy_if(devices.alive.begin(), devices.alive.end(), std::back_inserter(soft), [](const fabric::Port* port) { return fabric::is_software_rdma(port->device); });
  if (soft.empty()) return;
  Finding finding = finding_about(situation, "NCCL338", "NCCL_IB_HCA");
  finding.message = fmt::format("NCCL would use {}, which emulate{} RDMA on the CPU", shown(soft), soft.size() == 1 ? "s" : "");
  out.push_back(std::move(finding));
}

}  // namespace

void judge_devices(const Situation& situation, Findings& out) {
  judge_disabled(situation, out);
  judge_disabled_beside_plugin(situation, out);
  const Devices devices = devices_of(situation);
  judge_list(situation, devices, out);
  if (!may_use_rdma(situation)) return;
  judge_kinds(situation, devices, out);
  judge_access(situation, devices, out);
  judge_library(situation, devices, out);
  judge_software(situation, devices, out);
}

}  // namespace verl::nccl
