// Peer-to-peer, GPUDirect RDMA and NVLink settings against the GPUs of the node.
#include <fmt/format.h>

#include <algorithm>

#include "diagnosis/nccl/devices.h"
#include "diagnosis/nccl/hardware.h"

namespace verl::nccl {
namespace {

using diagnosis::Finding;
using diagnosis::Findings;
using diagnosis::Severity;

void judge_peers(const Situation& situation, Findings& out) {
  const auto& relations = situation.node->topology.relations;
  const auto linked = std::find_if(relations.begin(), relations.end(), [](const topology::Relation& one) { return one.link == topology::Link::NvLink; });
  if (linked == relations.end()) return;
  const bool disabled = number_of(situation, "NCCL_P2P_DISABLE") == 1;
  const std::string level = level_of(situation, "NCCL_P2P_LEVEL");
  if (!disabled && level != "LOC") return;
  Finding finding = finding_about(situation, "NCCL322", disabled ? "NCCL_P2P_DISABLE" : "NCCL_P2P_LEVEL");
  finding.message = fmt::format("{}={} keeps NCCL from the NVLink between {} and {} ({} links): it takes host memory or the network", finding.subject, finding.seen,
                                linked->a, linked->b, linked->links);
  finding.remedy = fmt::format("unset {}", finding.subject);
  out.push_back(std::move(finding));
}

bool uses_rdma(const Situation& situation, const Devices& devices) {
  return may_use_rdma(situation) && (!devices.alive.empty() || situation.policy->gpudirect || situation.policy->expected_network == "IB");
}

void judge_direct_level(const Situation& situation, const Devices& devices, Findings& out) {
  const std::string level = level_of(situation, "NCCL_NET_GDR_LEVEL");
  if (level.empty() || !may_use_rdma(situation)) return;
  if (level == "LOC") {
    Finding finding = finding_about(situation, "NCCL323", "NCCL_NET_GDR_LEVEL");
    finding.message = fmt::format("NCCL_NET_GDR_LEVEL={} means LOC: GPUDirect RDMA is off, data goes through host memory", finding.seen);
    out.push_back(std::move(finding));
    return;
  }
  const HostFacts& host = situation.node->nccl.host;
  const bool redirected = host.acs_redirect == true;
  if ((level != "SYS" && level != "PHB") || (!redirected && host.iommu_translation != true) || devices.selected.empty()) return;
  Finding finding = finding_about(situation, "NCCL324", "NCCL_NET_GDR_LEVEL");
  finding.wanted = "PXB";
  finding.message = fmt::format("NCCL_NET_GDR_LEVEL={} ({}) lets GPUDirect RDMA go through the root complex, where {}", finding.seen, level,
                                redirected ? "ACS redirects peer traffic" : "the IOMMU translates it");
  out.push_back(std::move(finding));
}

void judge_peer_memory(const Situation& situation, const Devices& devices, Findings& out) {
  if (!uses_rdma(situation, devices)) return;
  const HostFacts& host = situation.node->nccl.host;
  const bool switched_off = number_of(situation, "NCCL_DMABUF_ENABLE") == 0;
  const std::optional<bool> dmabuf = switched_off ? std::optional<bool>{false} : host.dmabuf;
  if (host.peer_memory_module == true || dmabuf == true || !host.peer_memory_module) return;
  Finding finding = finding_about(situation, "NCCL325", "GPUDirect RDMA");
  const std::string_view reason = switched_off ? "NCCL_DMABUF_ENABLE=0 switches DMA-BUF off" : "driver and kernel give no DMA-BUF";
  if (dmabuf) {
    finding.message = fmt::format("no peer-memory module is loaded and {}: GPUDirect RDMA is off without an error", reason);
  } else if (situation.policy->gpudirect) {
    finding.severity = Severity::Unknown;
    finding.message = "no peer-memory module is loaded, and whether driver and kernel give DMA-BUF is not known: the job needs one of the two";
  } else {
    return;
  }
  out.push_back(std::move(finding));
}

void judge_between_nodes(const Situation& situation, Findings& out) {
  const auto& channel = situation.node->nccl.host.imex_channel;
  if (number_of(situation, "NCCL_MNNVL_ENABLE") != 1 || channel == true) return;
  Finding finding = finding_about(situation, "NCCL334", "NCCL_MNNVL_ENABLE");
  finding.wanted = "2";
  if (channel) {
    finding.message = "NCCL_MNNVL_ENABLE=1 requires NVLink between nodes, and there is no IMEX channel: NCCL does not start";
  } else {
    finding.severity = Severity::Info;
    finding.message = "NCCL_MNNVL_ENABLE=1 requires NVLink between nodes; whether there is an IMEX channel is not known";
  }
  out.push_back(std::move(finding));
}

void judge_multicast(const Situation& situation, Findings& out) {
  if (number_of(situation, "NCCL_NVLS_ENABLE") != 1) return;
  const std::optional<bool>& multicast = situation.node->nccl.host.nvls_multicast;
  const std::optional<bool>& nvswitch = situation.node->topology.nvswitch;
  if (multicast == true) return;
  Finding finding = finding_about(situation, "NCCL335", "NCCL_NVLS_ENABLE");
  finding.wanted = "2";
  if (multicast || nvswitch == false) {
    finding.message = fmt::format("NCCL_NVLS_ENABLE=1 takes multicast for granted, and {}", multicast ? "the driver does not offer it" : "no NVSwitch joins these GPUs");
  } else {
    finding.severity = Severity::Info;
    finding.message = "NCCL_NVLS_ENABLE=1 takes multicast over NVSwitch for granted; whether the driver offers it is not known";
  }
  out.push_back(std::move(finding));
}

}  // namespace

void judge_gpus(const Situation& situation, Findings& out) {
  const Devices devices = devices_of(situation);
  judge_peers(situation, out);
  judge_direct_level(situation, devices, out);
  judge_peer_memory(situation, devices, out);
  judge_between_nodes(situation, out);
  judge_multicast(situation, out);
}

}  // namespace verl::nccl
