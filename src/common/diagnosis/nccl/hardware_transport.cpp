// Which network NCCL takes and how it crosses the fabric: NCCL_NET, plugins, rails, traffic class, adaptive routing, SHARP.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "diagnosis/nccl/devices.h"
#include "diagnosis/nccl/hardware.h"

namespace verl::nccl {
namespace {

using diagnosis::Finding;
using diagnosis::Findings;
using diagnosis::Severity;

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

bool has_rdma_plugin(const Situation& situation) {
  const std::string plugin = text_of(situation, "NCCL_NET_PLUGIN").value_or("");
  if (plugin == "none") return false;
  if (!plugin.empty()) return true;
  const auto& plugins = situation.node->nccl.host.plugins;
  return plugins && std::any_of(plugins->begin(), plugins->end(), [](const std::string& name) { return name.find("libnccl-net") != std::string::npos; });
}

void judge_guard(const Situation& situation, const Devices& devices, Findings& out) {
  if (text_of(situation, "NCCL_NET") || !may_use_rdma(situation) || has_rdma_plugin(situation)) return;
  if (!situation.policy->expected_network.empty() && situation.policy->expected_network != "IB") return;
  // Only where the ports themselves say that they work: an interface that is up alone makes no RDMA cluster.
  const auto rails = rails_of(devices, situation.node->fabric);
  if (rails.empty() || rails.front()->state.empty()) return;
  Finding finding = finding_about(situation, "NCCL320", "NCCL_NET");
  finding.message = fmt::format("NCCL_NET is not set: should RDMA over {} fail to start, NCCL falls back to sockets silently", join_some(port_names(rails), 8));
  finding.wanted = "IB";
  out.push_back(std::move(finding));
}

// NCCL tries a name as it is, then inside "libnccl-net-NAME.so" (src/plugin/plugin_open.cc).
bool loads(const std::vector<std::string>& plugins, std::string_view name) {
  const std::string_view file = name.substr(name.find_last_of('/') + 1);
  const std::string inside = "libnccl-net-" + std::string(file) + ".so";
  return std::any_of(plugins.begin(), plugins.end(), [&](const std::string& one) {
    const std::string_view own = std::string_view(one).substr(one.find_last_of('/') + 1);
    return own == file || own == inside || own.starts_with(std::string(file) + ".");
  });
}

void judge_loadable(const Situation& situation, Findings& out) {
  const HostFacts& host = situation.node->nccl.host;
  const std::string plugin = text_of(situation, "NCCL_NET_PLUGIN").value_or("");
  if (!plugin.empty() && plugin != "none" && host.plugins) {
    for (const std::string_view name : split(plugin, ',')) {
      if (name.empty() || loads(*host.plugins, name)) continue;
      Finding finding = finding_about(situation, "NCCL321", "NCCL_NET_PLUGIN");
      finding.severity = Severity::Warning;
      finding.message = fmt::format("the plugin \"{}\" of NCCL_NET_PLUGIN cannot be loaded: NCCL goes on with its own transport without a word", name);
      out.push_back(std::move(finding));
    }
  }
  const std::string net = text_of(situation, "NCCL_NET").value_or("");
  const std::string low = lower(net);
  if (net.empty() || low == "ib" || low == "socket") return;
  const bool registered = host.networks && std::any_of(host.networks->begin(), host.networks->end(), [&](const std::string& one) { return lower(one) == low; });
  const bool none = host.plugins && host.plugins->empty();
  if (registered || (!host.networks && !none)) return;
  Finding finding = finding_about(situation, "NCCL321", "NCCL_NET");
  std::vector<std::string> known{"IB", "Socket"};
  if (host.networks) known.insert(known.end(), host.networks->begin(), host.networks->end());
  finding.message = fmt::format("nothing here registers the network NCCL_NET={} (there are {}), so NCCL does not start", net, join_some(known, 8));
  out.push_back(std::move(finding));
}

void judge_crossing(const Situation& situation, const Devices& devices, Findings& out) {
  if (situation.node->nccl.host.rails_isolated != true || devices.alive.size() < 2) return;
  const auto crossing = number_of(situation, "NCCL_CROSS_NIC");
  if (crossing == 0) return;
  Finding finding = finding_about(situation, "NCCL330", "NCCL_CROSS_NIC");
  finding.wanted = "0";
  if (crossing) {
    finding.message = fmt::format("NCCL_CROSS_NIC={} lets rings cross from rail to rail, and there is no route between the {} rails", *crossing, devices.alive.size());
  } else {
    finding.severity = Severity::Warning;
    finding.message = fmt::format("NCCL_CROSS_NIC is not set, and its default crosses from rail to rail where that looks better; there is no route between the {} rails",
                                  devices.alive.size());
  }
  out.push_back(std::move(finding));
}

void judge_class(const Situation& situation, const std::vector<const fabric::Port*>& roce, Findings& out) {
  const auto wanted = situation.node->nccl.host.lossless_dscp;
  if (!wanted || *wanted == 0 || roce.empty()) return;
  const auto own = number_of(situation, "NCCL_IB_TC");
  const std::int64_t traffic_class = own && *own >= 0 ? *own : 0;
  if (traffic_class >> 2 == *wanted) return;
  Finding finding = finding_about(situation, "NCCL331", "NCCL_IB_TC");
  finding.wanted = std::to_string(*wanted * 4 + 2);
  finding.message = own ? fmt::format("NCCL_IB_TC={} is DSCP {}, and the lossless queue takes DSCP {}", finding.seen, traffic_class >> 2, *wanted)
                        : fmt::format("NCCL_IB_TC is not set, which is DSCP 0, and the lossless queue takes DSCP {}", *wanted);
  finding.remedy = fmt::format("set NCCL_IB_TC={} (4 times {} plus 2 for ECN)", finding.wanted, *wanted);
  out.push_back(std::move(finding));
}

void judge_spreading(const Situation& situation, const std::vector<const fabric::Port*>& roce, Findings& out) {
  const auto& fabric = situation.node->nccl.host.adaptive_routing;
  if (!is_on(situation, "NCCL_IB_ADAPTIVE_ROUTING") || roce.empty() || fabric == true) return;
  Finding finding = finding_about(situation, "NCCL332", "NCCL_IB_ADAPTIVE_ROUTING");
  const std::string ports = join_some(port_names(roce), 8);
  if (fabric) {
    finding.message = fmt::format("NCCL_IB_ADAPTIVE_ROUTING={} on the RoCE ports {}, and the fabric does not reorder packets for them", finding.seen, ports);
  } else {
    finding.severity = Severity::Info;
    finding.message = fmt::format("NCCL_IB_ADAPTIVE_ROUTING={} on the RoCE ports {}: whether the fabric is made for it is not known", finding.seen, ports);
  }
  out.push_back(std::move(finding));
}

void judge_sharp(const Situation& situation, const std::vector<const fabric::Port*>& roce, const Devices& devices, Findings& out) {
  if (!is_on(situation, "NCCL_COLLNET_ENABLE")) return;
  const bool on_roce = !roce.empty() && roce.size() == devices.alive.size();
  const bool missing = situation.node->nccl.host.sharp_plugin == false;
  if (!on_roce && !missing) return;
  Finding finding = finding_about(situation, "NCCL333", "NCCL_COLLNET_ENABLE");
  finding.message = fmt::format("NCCL_COLLNET_ENABLE={} does nothing: {}", finding.seen, missing ? "the SHARP plugin is not there" : "the ports are RoCE");
  out.push_back(std::move(finding));
}

}  // namespace

void judge_transport(const Situation& situation, Findings& out) {
  const Devices devices = devices_of(situation);
  judge_guard(situation, devices, out);
  judge_loadable(situation, out);
  if (!may_use_rdma(situation)) return;
  const auto roce = roce_of(devices, situation.node->fabric);
  judge_crossing(situation, devices, out);
  judge_class(situation, roce, out);
  judge_spreading(situation, roce, out);
  judge_sharp(situation, roce, devices, out);
}

}  // namespace verl::nccl
