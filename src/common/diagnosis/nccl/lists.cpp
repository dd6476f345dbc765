// Lists of interfaces and RDMA devices as text: what no name can be, and what takes more than it says (src/misc/utils.cc).
// Whether a list fits the node's hardware is decided by the hardware rules.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "base/text.h"
#include "diagnosis/nccl/linted.h"
#include "diagnosis/nccl/name_list.h"
#include "diagnosis/nccl/read_value.h"
#include "diagnosis/nccl/selection.h"

namespace verl::nccl {
namespace {

using diagnosis::Finding;
using diagnosis::Findings;

constexpr Version kMoreDevices = version(2, 18, 5);  // 32 instead of 16

std::string exact_text(std::string_view text) {
  std::string entries(text);
  entries.erase(std::remove_if(entries.begin(), entries.end(), [](char c) { return c == '^' || c == '='; }), entries.end());
  return fmt::format("{}{}", text.find('^') == std::string_view::npos ? "=" : "^=", entries);
}

void lint_signs(const EffectiveSetting& setting, Findings& out) {
  const std::string_view text = meant_text(setting);
  std::string_view rest = text;
  if (rest.starts_with('^')) rest.remove_prefix(1);
  if (rest.starts_with('=')) rest.remove_prefix(1);
  if (rest.find_first_of("^=") == std::string_view::npos) return;
  Finding finding = about("NCCL009", setting, fmt::format("the \"^\" or \"=\" inside \"{}\" is a letter of a name that nothing has", escape_controls(text)));
  finding.wanted = exact_text(text);
  finding.remedy = fmt::format("write {}={} if that is meant: both signs count once, in front of the whole list", setting.setting.name, finding.wanted);
  out.push_back(std::move(finding));
}

void lint_addresses(const EffectiveSetting& setting, const diagnosis::NodeFacts& node, Findings& out) {
  std::string_view text = meant_text(setting);
  while (text.starts_with('^') || text.starts_with('=')) text.remove_prefix(1);
  for (const std::string_view entry : split(text, ',')) {
    if (!looks_like_address(entry)) continue;
    Finding finding = about("NCCL030", setting, fmt::format("{} is an address: NCCL compares names, and no interface or device is called so", escape_controls(entry)));
    const std::string interface = interface_with(node.fabric, entry);
    finding.wanted = interface.empty() ? "a name" : interface;
    if (!interface.empty()) finding.remedy = fmt::format("write {}, which has an address in {}", interface, entry);
    out.push_back(std::move(finding));
  }
}

void lint_ports(const EffectiveSetting& setting, Findings& out) {
  std::string_view text = meant_text(setting);
  while (text.starts_with('^') || text.starts_with('=')) text.remove_prefix(1);
  for (const std::string_view entry : split(text, ',')) {
    const auto parts = split(entry, ':');
    if (parts.size() < 2 || looks_like_address(entry)) continue;
    const auto port = parse_int(parts[1]);
    if (port && *port > 0) continue;
    Finding finding = about("NCCL019", setting, fmt::format("port \"{}\" of {} is read as 0, which no port has: the entry matches nothing", escape_controls(parts[1]), parts[0]));
    finding.wanted = fmt::format("{}:1", parts[0]);
    finding.remedy = fmt::format("write {}:1, or {} for all its ports", parts[0], parts[0]);
    out.push_back(std::move(finding));
  }
}

void lint_length(const Linted& linted, const EffectiveSetting& setting, bool devices, Findings& out) {
  const bool few = linted.version && *linted.version < kMoreDevices;
  const size_t most = devices ? (few ? kMostInterfaces : kMostDevices) : kMostInterfaces;
  const std::string_view text = meant_text(setting);
  const auto entries = static_cast<size_t>(std::count(text.begin(), text.end(), ',')) + 1;
  if (entries <= most) return;
  Finding finding = about("NCCL020", setting, fmt::format("the list has {} entries, {} keeps {}: the rest is dropped", entries, library(linted.version), most));
  finding.wanted = fmt::format("at most {} entries", most);
  out.push_back(std::move(finding));
}

std::vector<std::string> names_on(const diagnosis::NodeFacts& node, bool devices) {
  std::vector<std::string> names;
  for (const auto& port : node.fabric.ports) {
    if (devices) names.push_back(port.device);
  }
  for (const auto& interface : node.fabric.interfaces) {
    if (!devices) names.push_back(interface.name);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

// Only for an entry that names something and takes something else besides: a bare prefix is meant as one.
void lint_prefixes(const EffectiveSetting& setting, const diagnosis::NodeFacts& node, bool devices, Findings& out) {
  const Selection selection = parse_selection(meant_text(setting), devices ? kMostDevices : kMostInterfaces);
  if (selection.exact) return;
  const std::vector<std::string> names = names_on(node, devices);
  for (const SelectionEntry& entry : selection.entries) {
    if (std::find(names.begin(), names.end(), entry.name) == names.end()) continue;
    std::vector<std::string> more;
    for (const std::string& name : names) {
      const bool listed = std::any_of(selection.entries.begin(), selection.entries.end(), [&](const SelectionEntry& one) { return one.name == name; });
      if (name != entry.name && name.starts_with(entry.name) && !listed) more.push_back(name);
    }
    if (more.empty()) continue;
    Finding finding = about("NCCL011", setting, fmt::format("{} is the beginning of {} too: {} {} as well", entry.name, join_some(more, 8),
                                                            selection.exclude ? "the list excludes" : "the list takes", more.size() == 1 ? "it" : "them"));
    finding.wanted = exact_text(meant_text(setting));
    finding.remedy = fmt::format("write {}={}", setting.setting.name, finding.wanted);
    out.push_back(std::move(finding));
  }
}

struct ListVariable {
  std::string_view name{};
  bool devices{false};
};

constexpr std::array kLists{ListVariable{"NCCL_SOCKET_IFNAME", false}, ListVariable{"NCCL_OOB_NET_IFNAME", false}, ListVariable{"NCCL_IB_HCA", true}};

}  // namespace

void lint_lists(const Linted& linted, Findings& out) {
  for (const ListVariable& list : kLists) {
    const EffectiveSetting* setting = setting_named(linted.environment, list.name);
    if (!setting || meant_text(*setting).empty()) continue;
    const std::string_view text = meant_text(*setting);
    if (list.devices && (text == "^" || text == "^=")) {
      out.push_back(about("NCCL010", *setting, "\"^\" in front of nothing excludes every device: NCCL falls back to sockets without a word"));
      continue;
    }
    lint_signs(*setting, out);
    lint_addresses(*setting, linted.node, out);
    if (list.devices) lint_ports(*setting, out);
    lint_length(linted, *setting, list.devices, out);
    lint_prefixes(*setting, linted.node, list.devices, out);
  }
}

}  // namespace verl::nccl
