// What Gloo and TensorPipe take for interfaces: exact names only (torch/csrc/distributed/c10d/ProcessGroupGloo.cpp).
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "diagnosis/nccl/linted.h"
#include "diagnosis/nccl/name_list.h"
#include "diagnosis/nccl/selection.h"
#include "diagnosis/rdma/address.h"
#include "diagnosis/rule.h"

namespace verl::nccl {
namespace {

using diagnosis::Finding;
using diagnosis::Findings;

// What the entry has that Gloo does not know; empty: it may be a name.
std::string_view foreign_syntax(std::string_view entry) {
  if (entry.starts_with('^')) return "\"^\" excludes nothing here";
  if (entry.find('=') != std::string_view::npos) return "\"=\" is part of the name here";
  if (entry.find_first_of("*?") != std::string_view::npos) return "there are no patterns";
  if (looks_like_address(entry)) return "an address is no name";
  return {};
}

void lint_syntax(const EffectiveSetting& setting, const diagnosis::NodeFacts& node, Findings& out) {
  const std::string_view text = meant_text(setting);
  for (const std::string_view entry : split(text, ',')) {
    const std::string_view why = foreign_syntax(trim(entry));
    if (why.empty()) continue;
    Finding finding = about("NCCL511", setting, fmt::format("\"{}\": {}; only concrete interface names of the node are supported, several separated by commas", escape_controls(entry), why));
    const std::string interface = interface_with(node.fabric, entry);
    finding.wanted = interface.empty() ? "interface names" : interface;
    if (!interface.empty()) finding.remedy = fmt::format("write {}, which has an address in {}", interface, trim(entry));
    out.push_back(std::move(finding));
    return;  // one entry says it for the list
  }
}

void lint_presence(const EffectiveSetting& setting, const fabric::Facts& fabric, Findings& out) {
  if (fabric.interfaces.empty()) return;
  for (const std::string_view entry : split(meant_text(setting), ',')) {
    const std::string name(trim(entry));
    if (name.empty() || !foreign_syntax(name).empty()) continue;
    const fabric::Interface* interface = fabric::interface_named(fabric, name);
    std::string message;
    if (!interface) {
      const bool prefix = std::any_of(fabric.interfaces.begin(), fabric.interfaces.end(), [&](const fabric::Interface& one) { return one.name.starts_with(name); });
      message = fmt::format("the node has no interface {}{}", name, prefix ? ", only longer names: Gloo takes no prefixes" : "");
    } else if (!interface->master.empty() && interface->addresses.empty()) {
      message = fmt::format("{} belongs to {}, which has the address", name, interface->master);
    } else if (interface->addresses.empty()) {
      message = fmt::format("{} has no address", name);
    } else {
      continue;
    }
    Finding finding = about("NCCL512", setting, std::move(message));
    if (interface && !interface->master.empty()) finding.wanted = interface->master;
    out.push_back(std::move(finding));
  }
}

std::vector<std::string> networks_of(const fabric::Facts& fabric, std::string_view text) {
  const Selection selection = parse_selection(text, kMostInterfaces);
  std::vector<std::string> addresses;
  for (const fabric::Interface& one : fabric.interfaces) {
    if (selects(selection, one.name)) addresses.insert(addresses.end(), one.addresses.begin(), one.addresses.end());
  }
  return addresses;
}

// By networks where the node's addresses are known, else by names.
bool apart(const fabric::Facts& fabric, std::string_view nccl, std::string_view gloo) {
  const auto one = networks_of(fabric, nccl);
  const auto two = networks_of(fabric, gloo);
  if (!one.empty() && !two.empty()) {
    return std::none_of(one.begin(), one.end(), [&](const std::string& a) { return std::any_of(two.begin(), two.end(), [&](const std::string& b) { return same_network(a, b); }); });
  }
  const Selection selection = parse_selection(nccl, kMostInterfaces);
  if (selection.exclude) return false;  // what is left is not known
  const auto names = split(gloo, ',');
  return std::none_of(names.begin(), names.end(), [&](std::string_view name) { return selects(selection, trim(name)); });
}

void lint_networks(const Linted& linted, const EffectiveSetting& setting, Findings& out) {
  const EffectiveSetting* other = setting_named(linted.environment, "NCCL_SOCKET_IFNAME");
  if (!other || meant_text(*other).empty() || meant_text(setting).empty()) return;
  const auto names = split(meant_text(setting), ',');
  if (std::any_of(names.begin(), names.end(), [](std::string_view name) { return !foreign_syntax(trim(name)).empty(); })) return;
  if (!apart(linted.node.fabric, meant_text(*other), meant_text(setting))) return;
  Finding finding = about("NCCL514", setting, fmt::format("{} is on {}, NCCL on {}", setting.setting.name, escape_controls(meant_text(setting)), escape_controls(meant_text(*other))));
  finding.evidence.push_back(evidence_of(*other));
  out.push_back(std::move(finding));
}

}  // namespace

void lint_gloo(const Linted& linted, Findings& out) {
  for (const std::string_view name : {"GLOO_SOCKET_IFNAME", "TP_SOCKET_IFNAME"}) {
    const EffectiveSetting* setting = setting_named(linted.environment, name);
    if (!setting) continue;
    lint_syntax(*setting, linted.node, out);
    lint_presence(*setting, linted.node.fabric, out);
    lint_networks(linted, *setting, out);
  }
  const auto address = rdma::parse_address(linted.node.nccl.hostname_address);
  if (address && rdma::is_loopback(*address) && value_of(linted.environment, "GLOO_SOCKET_IFNAME").value_or("").empty() && linted.policy.multi_node != false) {
    Finding finding = diagnosis::finding_of("NCCL513", "GLOO_SOCKET_IFNAME");
    finding.seen = linted.node.nccl.hostname_address;
    finding.message = fmt::format("the host name resolves to {}, which Gloo tells its peers", linted.node.nccl.hostname_address);
    out.push_back(std::move(finding));
  }
}

}  // namespace verl::nccl
