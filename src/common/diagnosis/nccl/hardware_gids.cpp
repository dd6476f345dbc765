// NCCL_IB_GID_INDEX and its neighbours against the GID tables of the selected RoCE ports.
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "diagnosis/nccl/devices.h"
#include "diagnosis/nccl/gids.h"
#include "diagnosis/nccl/hardware.h"

namespace verl::nccl {
namespace {

using diagnosis::Finding;
using diagnosis::Findings;
using diagnosis::Severity;

constexpr std::string_view kName = "NCCL_IB_GID_INDEX";
constexpr size_t kShown = 8;
using Ports = std::vector<const fabric::Port*>;

// What each port would send from, judged: the bad ones with their reason, those nobody can tell, and the good ones.
struct Verdicts {
  std::vector<std::string> bad{};
  std::vector<std::string> untold{};
  std::vector<std::string> good{};
};

Verdicts verdicts(const Situation& situation, const Ports& ports, bool pinned) {
  Verdicts result;
  for (const fabric::Port* port : ports) {
    auto chosen = chosen_gid(situation, *port);
    if (!chosen) continue;
    if (!pinned) {
      const std::int32_t own = rdma::nccl_gid_index(port->gids, gid_wish(situation));
      chosen = ChosenGid{.index = own, .pinned = false, .entry = rdma::entry_at(port->gids, own)};
    }
    const std::string why = why_unusable(*port, *chosen);
    const std::string text = fmt::format("index {} of {}", chosen->index, port_name(*port));
    if (!why.empty()) {
      result.bad.push_back(text + " " + why);
    } else if (!types_known(*port)) {
      result.untold.push_back(text);
    } else {
      result.good.push_back(text);
    }
  }
  return result;
}

std::string best_of(const Ports& ports, const Situation& situation) {
  std::vector<std::string> texts;
  for (const fabric::Port* port : ports) {
    const std::int32_t index = rdma::nccl_gid_index(port->gids, gid_wish(situation));
    const rdma::GidEntry* entry = rdma::entry_at(port->gids, index);
    if (entry && rdma::usable(*entry)) texts.push_back(fmt::format("{} on {}", index, port_name(*port)));
  }
  return join_some(texts, kShown);
}

void judge_pinned(const Situation& situation, const Ports& ports, Findings& out) {
  const Verdicts pinned = verdicts(situation, ports, true);
  if (!pinned.bad.empty() || !pinned.untold.empty()) {
    Finding finding = finding_about(situation, "NCCL314", kName);
    if (!pinned.bad.empty()) {
      finding.message = fmt::format("{}={}: {}, and RoCE v2 cannot go from there", kName, finding.seen, join_some(pinned.bad, kShown));
    } else {
      finding.severity = Severity::Unknown;
      finding.message = fmt::format("{}={}: the table does not say which RoCE version {} is", kName, finding.seen, join_some(pinned.untold, kShown));
      finding.remedy = "take the table with show_gids or from /sys/class/infiniband/*/ports/*/gid_attrs/types, or unset the variable";
    }
    if (const std::string best = best_of(ports, situation); !best.empty()) finding.wanted = best;
    out.push_back(std::move(finding));
    return;
  }
  if (situation.version && *situation.version < kChoosesGid) return;
  const Verdicts own = verdicts(situation, ports, false);
  if (own.good.empty() || !own.bad.empty()) return;
  Finding finding = finding_about(situation, "NCCL315", kName);
  finding.message = fmt::format("{}={} is pinned, and NCCL 2.21 and later would choose {} by itself", kName, finding.seen, join_some(own.good, kShown));
  out.push_back(std::move(finding));
}

void judge_old_default(const Situation& situation, const Ports& ports, Findings& out) {
  const bool good = std::all_of(ports.begin(), ports.end(), [](const fabric::Port* port) {
    const rdma::GidEntry* entry = rdma::entry_at(port->gids, 0);
    return entry && rdma::usable(*entry);
  });
  if (good) return;
  Finding finding = finding_about(situation, "NCCL316", kName);
  finding.message = fmt::format("NCCL {} takes GID index 0 on the RoCE ports {} while {} is not set", to_string(*situation.version),
                                join_some(port_names(ports), kShown), kName);
  finding.wanted = best_of(ports, situation);
  out.push_back(std::move(finding));
}

void judge_choice(const Situation& situation, const Ports& ports, Findings& out) {
  const Verdicts own = verdicts(situation, ports, false);
  if (own.bad.empty() && own.untold.empty()) return;
  Finding finding = finding_about(situation, "NCCL317", kName);
  if (own.bad.empty()) {
    finding.severity = Severity::Unknown;
    finding.message = fmt::format("NCCL would take {}, and the table does not say their RoCE versions", join_some(own.untold, kShown));
    finding.remedy = "take the table with show_gids or from /sys/class/infiniband/*/ports/*/gid_attrs/types";
  } else {
    finding.message = fmt::format("NCCL's own choice ends at a GID that cannot carry RoCE v2: {}", join_some(own.bad, kShown));
  }
  out.push_back(std::move(finding));
}

void judge_namespace(const Situation& situation, const Ports& ports, Findings& out) {
  constexpr Version kTolerates = version(2, 26, 2);
  if (!situation.version || *situation.version < kChoosesGid || *situation.version >= kTolerates || pinned_gid(situation)) return;
  if (situation.node->nccl.host.own_network_namespace != true) return;
  Finding finding = finding_about(situation, "NCCL318", kName);
  finding.message = fmt::format("NCCL {} may not start in a network namespace of its own: it takes a GID of another namespace on {} for a fatal error",
                                to_string(*situation.version), join_some(port_names(ports), kShown));
  out.push_back(std::move(finding));
}

bool wants_full_packets(const Situation& situation) {
  return situation.policy->gpudirect || is_on(situation, "NCCL_GIN_ENABLE") || number_of(situation, "NCCL_GIN_TYPE").value_or(0) > 0;
}

void judge_mtu(const Situation& situation, const Ports& ports, Findings& out) {
  constexpr std::int32_t kFull = 4096;
  std::vector<std::string> small;
  for (const fabric::Port* port : ports) {
    if (port->active_mtu && *port->active_mtu < kFull) small.push_back(fmt::format("{} ({})", port_name(*port), *port->active_mtu));
  }
  if (small.empty()) return;
  Finding finding = finding_about(situation, "NCCL337", "active_mtu");
  finding.wanted = std::to_string(kFull);
  if (wants_full_packets(situation)) {
    finding.severity = Severity::Error;
    finding.message = fmt::format("the active MTU of {} is below {}, which GPU-initiated networking needs", join_some(small, kShown), kFull);
  } else {
    finding.message = fmt::format("the active MTU of {} is below {}, which costs bandwidth", join_some(small, kShown), kFull);
  }
  out.push_back(std::move(finding));
}

}  // namespace

void judge_gids(const Situation& situation, Findings& out) {
  if (!may_use_rdma(situation)) return;
  const Devices devices = devices_of(situation);
  const Ports ports = roce_of(devices, situation.node->fabric);
  if (ports.empty()) {
    const bool infiniband = !devices.alive.empty() && std::all_of(devices.alive.begin(), devices.alive.end(), [&](const fabric::Port* port) {
      return layer_of(*port, situation.node->fabric) == fabric::LinkLayer::Infiniband;
    });
    if (infiniband && pinned_gid(situation)) out.push_back(finding_about(situation, "NCCL319", kName));
    return;
  }
  if (pinned_gid(situation)) {
    judge_pinned(situation, ports, out);
  } else if (situation.version && *situation.version < kChoosesGid) {
    judge_old_default(situation, ports, out);
  } else {
    judge_choice(situation, ports, out);
  }
  judge_namespace(situation, ports, out);
  judge_mtu(situation, ports, out);
}

}  // namespace verl::nccl
