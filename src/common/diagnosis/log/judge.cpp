// What a host's logs prove once its limits, topology and environment are known, and what hosts of one run disagree about.
#include "diagnosis/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <set>

#include "base/text.h"
#include "diagnosis/log/line.h"
#include "diagnosis/rule.h"

namespace verl::diagnosis {
namespace {

using log::Communicator;
using log::Process;

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

// NCCL compares names without case; IBext_v8 is the plugin that stands for IB.
bool is_network(const std::string& seen, const std::string& wanted) {
  const std::string a = lower(seen);
  const std::string b = lower(wanted);
  return a == b || (b == "ib" && a.rfind("ibext", 0) == 0);
}

void judge_network(const log::Facts& facts, const Policy& policy, Findings& out) {
  // A group inside one node, as tensor parallelism makes, says nothing of the others.
  const bool all_inside = !facts.communicators.empty() && std::all_of(facts.communicators.begin(), facts.communicators.end(), [](const Communicator& one) { return one.nodes == 1; });
  const bool one_node = policy.multi_node == false || all_inside;
  std::vector<std::string> names;
  std::vector<Evidence> evidence;
  std::string network;
  std::string why;
  std::int64_t socket_channels = 0;
  for (const Process& one : facts.processes) {
    socket_channels += one.socket_channels;
    if (one.network.empty()) continue;
    const bool wrong = policy.expected_network.empty() ? log::is_socket(one.network) : !is_network(one.network, policy.expected_network);
    if (!wrong || (one_node && policy.expected_network.empty() && one.socket_channels == 0)) continue;
    names.push_back(one.name);
    network = one.network;
    if (evidence.size() < 3 && one.network_at.line > 0) {
      evidence.push_back(one.network_at);
      if (one.fallback_at.line > 0) evidence.push_back(one.fallback_at);
    }
    if (why.empty() && one.fallback_at.line > 0) why = std::string(log::without_header(one.fallback_at.text));
  }
  if (!names.empty()) {
    Finding finding = finding_of("NCCL601", network);
    finding.seen = network;
    finding.wanted = policy.expected_network.empty() ? "an RDMA network" : policy.expected_network;
    finding.message = log::is_socket(network) ? fmt::format("NCCL fell back to TCP sockets ({}) in {}", network, join_some(names, 8))
                                              : fmt::format("NCCL uses {} and not {} in {}", network, policy.expected_network, join_some(names, 8));
    for (const log::Echo& one : facts.echoes) {
      const bool asked = (one.name == "NCCL_IB_DISABLE" && one.value != "0") || (one.name == "NCCL_NET" && log::is_socket(one.value));
      if (asked && finding.message.find(one.name) == std::string::npos) finding.message += fmt::format("; {}={} asks for it", one.name, one.value);
    }
    if (!why.empty()) finding.message += ": \"" + why + "\"";
    finding.evidence = std::move(evidence);
    out.push_back(std::move(finding));
  }
  if (socket_channels > 0 && !is_network("Socket", policy.expected_network)) {
    Finding finding = finding_of("NCCL602", "NET/Socket");
    finding.seen = std::to_string(socket_channels);
    finding.message = fmt::format("{} channel path{} go through NET/Socket", socket_channels, socket_channels == 1 ? "" : "s");
    for (const Process& one : facts.processes) {
      if (one.socket_channels > 0 && one.path_at.line > 0 && finding.evidence.size() < 3) finding.evidence.push_back(one.path_at);
    }
    out.push_back(std::move(finding));
  }
}

void judge_gpudirect(const NodeFacts& node, const Policy& policy, Findings& out) {
  std::int64_t bounced = 0;
  std::int64_t all = 0;
  std::vector<Evidence> evidence;
  std::set<bool> summary;
  for (const Process& one : node.log.processes) {
    all += one.net_channels;
    bounced += one.net_channels - one.gdr_channels;
    if (one.net_channels > one.gdr_channels && one.path_at.line > 0 && evidence.size() < 3) evidence.push_back(one.path_at);
    if (one.gdr) summary.insert(*one.gdr);
  }
  if (bounced > 0) {
    const auto& relations = node.topology.relations;
    const bool near = std::any_of(relations.begin(), relations.end(), [](const topology::Relation& one) {
      return (one.a.starts_with("GPU") != one.b.starts_with("GPU")) && (one.link == topology::Link::Pix || one.link == topology::Link::Pxb);
    });
    Finding finding = finding_of(near || policy.gpudirect ? "NCCL603" : "log-no-gpudirect", "GDRDMA");
    finding.seen = fmt::format("{} of {}", all - bounced, all);
    finding.message = fmt::format("{} of {} channel paths through the network go without GPUDirect RDMA{}", bounced, all, near ? ", and a NIC is next to a GPU" : "");
    finding.evidence = std::move(evidence);
    out.push_back(std::move(finding));
  }
  if (summary.contains(false) && (policy.gpudirect || summary.contains(true))) {
    Finding finding = finding_of("NCCL610", "rings");
    finding.seen = "GDR 0";
    finding.message = summary.size() > 1 ? "some ranks report rings with GPUDirect and some without" : "rings run without GPUDirect";
    out.push_back(std::move(finding));
  }
}

void judge_local(const NodeFacts& node, Findings& out) {
  std::int64_t shm = 0;
  std::vector<Evidence> evidence;
  for (const Process& one : node.log.processes) {
    shm += one.shm_channels;
    if (one.shm_channels > 0 && one.net_channels == one.gdr_channels && one.path_at.line > 0 && evidence.size() < 3) evidence.push_back(one.path_at);
  }
  const auto& relations = node.topology.relations;
  const bool nvlink = node.topology.nvswitch == true || (!relations.empty() && std::all_of(relations.begin(), relations.end(), [](const topology::Relation& one) {
                        return !one.a.starts_with("GPU") || !one.b.starts_with("GPU") || one.link == topology::Link::NvLink;
                      }) && std::any_of(relations.begin(), relations.end(), [](const topology::Relation& one) { return one.link == topology::Link::NvLink; }));
  if (shm > 0) {
    Finding finding = finding_of(nvlink ? "NCCL604" : "log-shm-transport", "SHM");
    finding.seen = std::to_string(shm);
    finding.message = fmt::format("{} channel paths between ranks of this host go through shared memory{}", shm, nvlink ? " although all its GPUs are joined by NVLink" : "");
    finding.evidence = std::move(evidence);
    out.push_back(std::move(finding));
  }
  if (node.log.local_net > 0) {
    Finding finding = finding_of("NCCL604", "NET");
    if (!nvlink) finding.severity = Severity::Warning;
    finding.seen = std::to_string(node.log.local_net);
    finding.message = fmt::format("{} channel paths between ranks of this host go through the network", node.log.local_net);
    if (node.log.local_net_at.line > 0) finding.evidence.push_back(node.log.local_net_at);
    out.push_back(std::move(finding));
  }
}

std::vector<std::string> texts(const std::vector<std::int32_t>& ranks) {
  std::vector<std::string> all;
  for (const std::int32_t one : ranks) all.push_back(std::to_string(one));
  return all;
}

void judge_communicators(const log::Facts& facts, Findings& out) {
  std::size_t said = 0;
  for (const Communicator& one : facts.communicators) {
    std::vector<std::int32_t> open;
    std::set_difference(one.started.begin(), one.started.end(), one.completed.begin(), one.completed.end(), std::back_inserter(open));
    if (open.empty() || ++said > 16) continue;
    Finding finding = finding_of("NCCL606", "0x" + one.id);
    finding.seen = fmt::format("{} of {}", one.completed.size(), one.started.size());
    finding.message = fmt::format("communicator 0x{} of {} ranks: rank {} began and did not complete", one.id, one.ranks, join_some(texts(open), 8));
    if (one.at.line > 0) finding.evidence.push_back(one.at);
    out.push_back(std::move(finding));
  }
}

// Why the kernel refuses to pin memory is only likely, never sure: the limit that is known is judged, the others are named.
void judge_registration(const NodeFacts& node, Findings& out) {
  for (const log::Registration& one : node.log.registrations) {
    Finding finding = finding_of("log-memory-registration", one.call);
    finding.seen = "Cannot allocate memory";
    const std::optional<std::int64_t> limit = node.kubernetes.memlock_bytes;
    const std::string call = one.call.empty() ? "the HCA" : one.call;
    const std::string where = one.process.empty() ? "" : " in " + one.process;
    if (!limit) {
      finding.message = fmt::format("memory registration failed{}: {} said \"Cannot allocate memory\"; possible causes: the locked-memory limit (not known here), limits of the HCA for memory "
                                    "regions or queues, low free memory with pages that cannot be pinned", where, call);
      finding.remedy = "look at ulimit -l inside the job's container first; with unlimited look at free and CMA memory and at the HCA's limits";
    } else if (*limit < 0) {
      finding.message = fmt::format("memory registration failed{}: {} said \"Cannot allocate memory\" although locked memory is unlimited; possible causes: limits of the HCA for memory regions or "
                                    "queues, low free memory with pages (CMA) that cannot be pinned; the locked-memory limit is not the likely one", where, call);
      finding.remedy = "look at free and CMA memory of the node and at the HCA's limits (ibv_devinfo -v: max_mr, max_qp, max_cq)";
    } else {
      finding.message = fmt::format("memory registration failed{}: {} said \"Cannot allocate memory\"; first cause: the locked-memory limit of {} KiB", where, call, *limit / 1024);
      finding.remedy = "give the container the IPC_LOCK capability, or an unlimited memlock limit; limits.conf does not apply to containers";
    }
    if (one.count > 1) finding.message += fmt::format(" ({} times)", one.count);
    finding.evidence.push_back(one.at);
    out.push_back(std::move(finding));
  }
}

// The echo proves what NCCL read. A text that NCCL reads as a number is compared as it does: strtoll, base 0.
// As NCCL echoes it: an integer in decimal.
bool is_echo_of(const std::string& value, const std::string& echo) {
  if (value == echo || value.empty()) return true;
  char* end = nullptr;
  const long long read = std::strtoll(value.c_str(), &end, 0);
  return end != value.c_str() && *end == '\0' && echo == std::to_string(read);
}

// Roles of a job may have different values: an echo is wrong only when no environment of the node asks for it.
void judge_echoes(const NodeFacts& node, Findings& out) {
  std::set<std::string> said;
  for (const log::Echo& echo : node.log.echoes) {
    const nccl::SettingAt* asked = nullptr;
    bool matched = echo.value.ends_with("…");  // cut: not to be compared
    for (const nccl::Environment& environment : node.nccl.environments) {
      for (const nccl::SettingAt& one : environment.settings) {
        if (one.setting.name != echo.name) continue;
        if (!asked) asked = &one;
        matched = matched || is_echo_of(one.setting.value, echo.value);
      }
    }
    if (!asked || matched || !said.insert(echo.name + "=" + echo.value).second) continue;
    Finding finding = finding_of("NCCL607", echo.name);
    finding.seen = echo.value;
    finding.wanted = asked->setting.value;
    finding.message = fmt::format("{} is set to \"{}\", NCCL reads {}", echo.name, asked->setting.value, echo.value);
    out.push_back(std::move(finding));
  }
}

void judge_processes_alike(const log::Facts& facts, Findings& out) {
  std::map<std::string, std::vector<std::string>> networks;
  for (const Process& one : facts.processes) {
    if (!one.network.empty()) networks[one.network].push_back(one.name);
  }
  if (networks.size() < 2) return;
  const auto most = std::max_element(networks.begin(), networks.end(), [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  for (const auto& [network, names] : networks) {
    if (network == most->first) continue;
    Finding finding = finding_of("log-network-differs", network);
    finding.seen = network;
    finding.wanted = most->first;
    finding.message = fmt::format("{} ended on {} while {} of this host on {}", join_some(names, 8), network, most->second.size(), most->first);
    out.push_back(std::move(finding));
  }
}

}  // namespace

void judge_log(const NodeFacts& node, const Policy& policy, Findings& out) {
  judge_network(node.log, policy, out);
  judge_gpudirect(node, policy, out);
  judge_local(node, out);
  judge_communicators(node.log, out);
  judge_registration(node, out);
  judge_echoes(node, out);
  judge_processes_alike(node.log, out);
}

}  // namespace verl::diagnosis
