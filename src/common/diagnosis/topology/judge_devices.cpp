// NICs near GPUs, MIG, the number of GPUs, and what NCCL's own topology files and limits make of them.
#include <algorithm>
#include <set>

#include "base/text.h"
#include "diagnosis/rule.h"
#include "diagnosis/topology/bus_id.h"
#include "diagnosis/topology/judge_parts.h"
#include "diagnosis/topology/model.h"
#include "diagnosis/topology/rails.h"

namespace verl::topology {
namespace {

using diagnosis::Finding;
using diagnosis::finding_of;

// Is this NCCL one that joins the views of a node's ranks in a buffer of 256 XML nodes? Unknown versions are taken for affected.
bool has_xml_limit(const std::string& version) {
  const std::vector<std::string_view> parts = split(version, '.');
  const auto major = parse_int(parts[0]);
  const auto minor = parts.size() > 1 ? parse_int(parts[1]) : std::nullopt;
  return !major || !minor || std::pair(*major, *minor) >= std::pair<std::int64_t, std::int64_t>(2, 21);
}

std::set<std::string> bus_ids(const Facts& facts) {
  std::set<std::string> known(facts.pci_devices.begin(), facts.pci_devices.end());
  for (const Gpu& one : facts.gpus) {
    if (!one.bus_id.empty()) known.insert(one.bus_id);
  }
  return known;
}

}  // namespace

void judge_nics(const Facts& facts, const fabric::Facts& fabric, Findings& out) {
  if (facts.gpus.empty() || facts.nics.empty()) return;
  const Relations relations(facts);
  std::vector<std::int32_t> far;
  std::vector<diagnosis::Evidence> shown;
  for (const Gpu& gpu : facts.gpus) {
    const Nearest nearest = nearest_nics(facts, relations, label_of(gpu));
    if (nearest.link != Link::Sys || !nearest.complete) continue;
    far.push_back(gpu.index);
    if (!gpu.shown.text.empty() && shown.size() < 16) shown.push_back(gpu.shown);
  }
  if (far.size() == facts.gpus.size()) {
    Finding finding = finding_of("numa-topology", "NICs");
    finding.seen = "SYS";
    finding.wanted = "NODE or nearer";
    finding.message = "no RDMA NIC near any GPU: all " + std::to_string(facts.nics.size()) + " NICs are across the sockets (SYS), good for management only";
    finding.evidence = shown;
    out.push_back(std::move(finding));
  } else if (!far.empty()) {
    Finding finding = finding_of("gpu-nic-cross-socket", labels_of(far));
    finding.seen = "SYS";
    finding.wanted = "NODE or nearer";
    finding.message = finding.subject + " reach every NIC only across the sockets (SYS)";
    finding.evidence = shown;
    out.push_back(std::move(finding));
  }
  const Rails rails = rail_devices(facts, fabric);
  if (rails.devices.empty()) return;
  Finding finding = finding_of("rails-suggested", "NCCL_IB_HCA");
  finding.seen = hca_list(rails.devices);
  finding.message = "RDMA devices near the GPUs: NCCL_IB_HCA=\"" + finding.seen + "\"";
  std::vector<std::string> left_out;
  for (const auto& [device, why] : rails.left_out) left_out.push_back(device + " (" + why + ")");
  if (!left_out.empty()) finding.message += "; left out: " + join_some(left_out, 16);
  if (fabric.ports.empty()) finding.message += "; the states of their ports are not known";
  out.push_back(std::move(finding));
}

void judge_gpus(const Facts& facts, const Policy& policy, Findings& out) {
  for (const Gpu& gpu : facts.gpus) {
    if (!gpu.mig.value_or(false)) continue;
    Finding finding = finding_of("gpu-mig-mode", label_of(gpu));
    finding.seen = "MIG enabled";
    finding.wanted = "disabled";
    finding.message = "GPU " + std::to_string(gpu.index) + ": MIG enabled, excluded" + (gpu.bus_id.empty() ? "" : " (bus " + nvidia_bus_id(gpu.bus_id) + ")") +
                      ": it is no whole GPU, and tensor parallelism over its slices has no peer access";
    if (!gpu.shown.text.empty()) finding.evidence.push_back(gpu.shown);
    out.push_back(std::move(finding));
  }
  const auto whole = static_cast<std::int32_t>(whole_gpus(facts).size());
  if (!policy.gpus || facts.gpus.empty() || whole >= *policy.gpus) return;
  Finding finding = finding_of("gpu-count", "GPUs");
  finding.seen = std::to_string(whole);
  finding.wanted = std::to_string(*policy.gpus);
  finding.message = finding.seen + " whole GPUs of the " + finding.wanted + " that this node is to have";
  out.push_back(std::move(finding));
}

void judge_nccl_files(const NodeFacts& node, const Policy& policy, Findings& out) {
  const Facts& facts = node.topology;
  constexpr std::size_t kFrom = 32;  // NVIDIA/nccl#2160
  const auto nics = static_cast<std::size_t>(std::count_if(facts.pcie_links.begin(), facts.pcie_links.end(),
                                                           [](const PcieLink& one) { return one.kind == DeviceKind::Nic; }));
  const std::string& version = node.nccl.loaded_version.empty() ? policy.nccl_version : node.nccl.loaded_version;
  if (std::max(facts.nics.size(), nics) >= kFrom && has_xml_limit(version)) {
    Finding finding = finding_of("topology-xml-node-limit", "NICs");
    finding.seen = std::to_string(std::max(facts.nics.size(), nics));
    finding.wanted = "fewer than " + std::to_string(kFrom);
    finding.message = "topology XML node limit: with " + finding.seen + " NICs NCCL " + (version.empty() ? "(version unknown)" : version) +
                      " may need more than its 256 XML nodes to join the ranks of this node";
    out.push_back(std::move(finding));
  }
  const std::set<std::string> known = bus_ids(facts);
  if (known.empty()) return;
  for (const TopologyFile& file : facts.files) {
    std::vector<std::string> missing;
    std::copy_if(file.gpus.begin(), file.gpus.end(), std::back_inserter(missing), [&](const std::string& one) { return known.count(one) == 0; });
    if (missing.empty()) continue;
    Finding finding = finding_of("nccl-topo-file", file.source);
    const bool none = missing.size() == file.gpus.size();
    if (!none) finding.severity = diagnosis::Severity::Warning;
    finding.seen = join_some(missing, 8);
    finding.message = none ? "none of the topology file's " + std::to_string(file.gpus.size()) + " GPUs is on this node: " + finding.seen
                           : "GPUs of the topology file that this node does not have: " + finding.seen;
    finding.evidence.push_back({.source = file.source, .line = 0, .text = {}});
    out.push_back(std::move(finding));
  }
}

}  // namespace verl::topology
