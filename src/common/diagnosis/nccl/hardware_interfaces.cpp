// NCCL_SOCKET_IFNAME against the interfaces of the node.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "diagnosis/nccl/hardware.h"
#include "diagnosis/nccl/interfaces.h"

namespace verl::nccl {
namespace {

using diagnosis::Finding;
using diagnosis::Findings;
using diagnosis::Severity;

constexpr std::string_view kName = "NCCL_SOCKET_IFNAME";
constexpr size_t kShown = 8;
constexpr Version kWantsRunning = version(2, 28, 3);

std::string shown(const std::vector<Candidate>& candidates) {
  std::vector<std::string> texts;
  for (const Candidate& one : candidates) texts.push_back(fmt::format("{} {}", one.interface->name, one.text));
  return join_some(texts, kShown);
}

void suggest(const Situation& situation, const InterfaceChoice& choice, Finding& finding) {
  const std::vector<std::string> names = sane_names(situation, choice);
  if (names.empty()) return;
  if (names.size() == 1) finding.wanted = "=" + names.front();
  finding.remedy += fmt::format("; on this node: {}", join_some(names, kShown));
}

bool is_loopback_list(const Selection& list) {
  return !list.exclude && !list.entries.empty() &&
         std::all_of(list.entries.begin(), list.entries.end(), [](const SelectionEntry& entry) { return entry.name == "lo"; });
}

// What is wrong with the interfaces that the list names but that cannot be used.
std::string why_none(const Situation& situation, const InterfaceChoice& choice) {
  std::vector<std::string> reasons;
  for (const fabric::Interface& one : situation.node->fabric.interfaces) {
    if (!selects(choice.list, one.name)) continue;
    reasons.push_back(fmt::format("{} {}", one.name, one.addresses.empty() ? "has no address" : is_dead(one) ? "has no carrier" : "has no address of that family"));
  }
  return reasons.empty() ? "matches no interface of this node" : join_some(reasons, kShown);
}

void judge_listed(const Situation& situation, const InterfaceChoice& choice, Findings& out) {
  const auto is_live = [](const Candidate& one) { return !is_dead(*one.interface); };
  if (std::none_of(choice.taken.begin(), choice.taken.end(), is_live)) {
    Finding finding = finding_about(situation, "NCCL310", kName);
    const std::string why = why_none(situation, choice);
    finding.message = fmt::format("{}={}: {}, so NCCL has no interface for its bootstrap", kName, finding.seen, why);
    suggest(situation, choice, finding);
    out.push_back(std::move(finding));
    return;
  }
  // Left over only where NCCL is older than kWantsRunning or of unknown version.
  const Candidate& first = choice.taken.front();
  if (is_live(first)) return;
  Finding finding = finding_about(situation, "NCCL310", kName);
  if (!situation.version) finding.severity = Severity::Warning;
  finding.message = fmt::format("NCCL before {} takes {} for its bootstrap, the first match of {}={}, which has no carrier", to_string(kWantsRunning),
                                first.interface->name, kName, finding.seen);
  suggest(situation, choice, finding);
  out.push_back(std::move(finding));
}

bool takes_only_loopback(const InterfaceChoice& choice) {
  if (!choice.known || choice.taken.empty()) return is_loopback_list(choice.list);
  return std::all_of(choice.taken.begin(), choice.taken.end(), [](const Candidate& one) { return rdma::is_loopback(one.address) || one.interface->name == "lo"; });
}

bool judge_loopback(const Situation& situation, const InterfaceChoice& choice, Findings& out) {
  if (!spans_nodes(situation) || choice.list.exclude || !takes_only_loopback(choice)) return false;
  Finding finding = finding_about(situation, "NCCL311", kName);
  finding.message = fmt::format("{}={} lets NCCL use the loopback alone, where no other node can connect", kName, finding.seen);
  suggest(situation, choice, finding);
  out.push_back(std::move(finding));
  return true;
}

// The user's own entries stay; what is missing goes in front.
std::string completed(const Selection& list, const std::vector<std::string>& missing) {
  Selection whole = list;
  whole.entries.clear();
  for (const std::string& name : missing) whole.entries.push_back({.name = name, .port = kAnyPort});
  whole.entries.insert(whole.entries.end(), list.entries.begin(), list.entries.end());
  return to_string(whole);
}

// Every host has a loopback, so it is judged without knowing the interfaces; the others only where they are seen.
void judge_exclusion(const Situation& situation, const InterfaceChoice& choice, Findings& out) {
  std::vector<std::string> eligible;
  if (selects(choice.list, "lo")) eligible.emplace_back("lo");
  for (const Candidate& one : choice.taken) {
    if (one.interface->name != "lo" && is_inner(*one.interface)) eligible.push_back(one.interface->name);
  }
  if (eligible.empty()) return;
  Finding finding = finding_about(situation, "NCCL312", kName);
  finding.wanted = completed(choice.list, eligible);
  const bool first = choice.known && !choice.taken.empty() && is_inner(*choice.taken.front().interface);
  finding.message = fmt::format("{}={} does not exclude {}, and a list of one's own replaces the one by which NCCL leaves out lo, docker and virbr{}", kName,
                                finding.seen, join_some(eligible, kShown),
                                first ? fmt::format(": the bootstrap goes over {}", choice.taken.front().interface->name) : "");
  finding.remedy = fmt::format("write {}", finding.wanted);
  if (const auto names = sane_names(situation, choice); names.size() == 1) finding.remedy += fmt::format(", or ={}", names.front());
  out.push_back(std::move(finding));
}

void judge_automatic(const Situation& situation, const InterfaceChoice& choice, Findings& out) {
  if (!spans_nodes(situation) || choice.taken.empty()) return;
  const Candidate& first = choice.taken.front();
  const std::vector<std::string> sane = sane_names(situation, choice);
  std::string why;
  if (is_inner(*first.interface)) {
    why = "reaches no other node";
  } else if (rdma::is_link_local(first.address)) {
    why = "has only a link-local address";
  } else if (is_dead(*first.interface)) {
    why = "has no carrier";
  } else if (choice.taken.size() < 2) {
    return;
  }
  Finding finding = finding_about(situation, "NCCL313", kName);
  finding.seen = "not set";
  finding.message = why.empty() ? fmt::format("{} is not set and NCCL would take {} interfaces: {}; the bootstrap goes over {}", kName, choice.taken.size(),
                                              shown(choice.taken), first.interface->name)
                                : fmt::format("{} is not set and the bootstrap goes over {} {}, which {}", kName, first.interface->name, first.text, why);
  if (sane.size() == 1) {
    finding.wanted = "=" + sane.front();
    finding.remedy = fmt::format("set {}=={}, or {}=^lo,docker,veth to leave out what is inside the host", kName, sane.front(), kName);
  } else if (!sane.empty()) {
    finding.remedy = fmt::format("set {} to the interface that reaches the other nodes: one of {}", kName, join_some(sane, kShown));
  }
  out.push_back(std::move(finding));
}

}  // namespace

void judge_interfaces(const Situation& situation, Findings& out) {
  const InterfaceChoice choice = interfaces_of(situation);
  if (!choice.listed) {
    if (choice.known) judge_automatic(situation, choice, out);
    return;
  }
  if (judge_loopback(situation, choice, out)) return;
  if (choice.list.exclude && spans_nodes(situation)) judge_exclusion(situation, choice, out);
  if (choice.known) judge_listed(situation, choice, out);
}

}  // namespace verl::nccl
