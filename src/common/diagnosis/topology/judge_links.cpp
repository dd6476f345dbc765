// NVLink between GPUs, and PCIe: Access Control Services, width and speed.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "diagnosis/rule.h"
#include "diagnosis/topology/judge_parts.h"
#include "diagnosis/topology/model.h"

namespace verl::topology {
namespace {

using diagnosis::Finding;
using diagnosis::finding_of;
using diagnosis::Severity;

std::string braces(const std::vector<std::int32_t>& gpus) { return fmt::format("{{{}}}", fmt::join(gpus, ",")); }

struct Partners {
  std::int32_t gpu{0};
  std::size_t count{0};
  std::int32_t most_links{0};
};

// Where NVLink joins all GPUs through switches, one with fewer links has a fault. Boards joined in pairs or meshes differ by design.
void judge_missing(const std::vector<Partners>& partners, Findings& out) {
  constexpr std::int32_t kSwitched = 12;  // links of a GPU on NVSwitch boards: 12 (A100), 18 (H100 and later)
  std::size_t most = 0;
  std::int32_t links = 0;
  for (const Partners& one : partners) {
    most = std::max(most, one.count);
    links = std::max(links, one.most_links);
  }
  const auto whole = std::count_if(partners.begin(), partners.end(), [&](const Partners& one) { return one.count == most && one.most_links == links; });
  // Most GPUs reach at least three others at full count: a board with switches. One whose links are down reaches none, and no other
  // reaches it, so the others have the rest as partners.
  if (links < kSwitched || most < 3 || static_cast<std::size_t>(whole) * 2 <= partners.size()) return;
  for (const Partners& one : partners) {
    if (one.most_links == links && one.count == most) continue;
    Finding finding = finding_of("gpu-nvlink", "GPU" + std::to_string(one.gpu));
    finding.seen = one.count == 0 ? "none" : "NV" + std::to_string(one.most_links);
    finding.wanted = "NV" + std::to_string(links);
    finding.message = finding.subject + " has " + (one.count == 0 ? "no NVLink" : finding.seen) + " where the others have " + finding.wanted;
    out.push_back(std::move(finding));
  }
}

void judge_groups(const Facts& facts, const Relations& relations, Findings& out) {
  std::vector<std::string> linked;
  for (const auto& group : joined_gpus(facts)) linked.push_back(braces(group));
  std::vector<std::string> broken;
  for (std::size_t i = 0; i + 1 < facts.gpus.size(); i += 2) {
    const std::vector<std::int32_t> pair{facts.gpus[i].index, facts.gpus[i + 1].index};
    if (group_fit(facts, relations, pair) != GroupFit::Worse) continue;
    const Relation* one = relations.between(label_of(facts.gpus[i]), label_of(facts.gpus[i + 1]));
    broken.push_back(braces(pair) + " (" + to_text(*one) + ")");
  }
  Finding finding = finding_of("gpu-nvlink-groups", "GPUs");
  finding.severity = broken.empty() ? Severity::Info : Severity::Warning;
  finding.message = "direct links join only " + join_some(linked, 8);
  const auto groups = direct_groups(facts, relations, 2);
  if (groups) {
    std::vector<std::string> names;
    for (const auto& group : *groups) names.push_back(braces(group));
    finding.message += "; tensor-parallel groups of 2: " + join_some(names, 8);
    finding.wanted = join_some(names, 8);
  }
  if (!broken.empty()) finding.message += "; not " + join_some(broken, 8);
  finding.seen = join_some(linked, 8);
  out.push_back(std::move(finding));
}

void judge_acs(const Facts& facts, Findings& out) {
  constexpr std::uint16_t kSourceValidation = 0x01;
  constexpr std::uint16_t kRedirects = 0x04 | 0x08 | 0x10;  // request redirect, completion redirect, upstream forwarding
  if (facts.virtual_machine.value_or(false)) return;        // what a guest sees of bridges is the hypervisor's
  for (const AcsBridge& bridge : facts.acs_bridges) {
    const bool redirects = (bridge.control & kRedirects) != 0;
    if (!redirects && (bridge.control & kSourceValidation) == 0) continue;
    Finding finding = finding_of("pcie-acs", bridge.bus_id);
    finding.severity = redirects ? Severity::Error : Severity::Warning;
    if (bridge.above_device == false) finding.severity = Severity::Info;
    finding.seen = fmt::format("0x{:04x}", bridge.control);
    finding.wanted = "0x0000";
    std::vector<std::string> on;
    if ((bridge.control & 0x04) != 0) on.emplace_back("request redirect");
    if ((bridge.control & 0x08) != 0) on.emplace_back("completion redirect");
    if ((bridge.control & 0x10) != 0) on.emplace_back("upstream forwarding");
    finding.message = redirects ? "bridge " + bridge.bus_id + " sends peer traffic through the root complex: " + join(on, ", ") + " on, ACS control " + finding.seen
                                : "bridge " + bridge.bus_id + " validates sources only (ACS control " + finding.seen + "), which redirects nothing";
    if (bridge.above_device == false) finding.message += "; no GPU or NIC is below it";
    finding.evidence.push_back(bridge.shown);
    out.push_back(std::move(finding));
  }
}

void judge_link(const PcieLink& link, Findings& out) {
  if (link.kind != DeviceKind::Gpu && link.kind != DeviceKind::Nic) return;
  const bool narrow = link.width && link.width_max && *link.width < *link.width_max;
  const bool slow = link.speed && link.speed_max && *link.speed < *link.speed_max;
  if (!narrow && !slow) return;
  Finding finding = finding_of("gpu-pcie-link", link.name.empty() || link.kind == DeviceKind::Nic ? link.bus_id : link.name);
  const auto shown = [](const std::optional<double>& speed, const std::optional<std::int32_t>& width) {
    std::string text = speed ? fmt::format("{} GT/s", *speed) : std::string{};
    if (width) text += (text.empty() ? "x" : " x") + std::to_string(*width);
    return text;
  };
  finding.seen = shown(link.speed, link.width);
  finding.wanted = shown(link.speed_max, link.width_max);
  finding.message = finding.subject + " runs at " + finding.seen + ", it can " + finding.wanted;
  if (!narrow && link.kind == DeviceKind::Gpu) {
    if (link.busy == false) {
      finding.severity = Severity::Info;
      finding.message += "; it is idle, and an idle GPU lowers its speed";
    } else if (!link.busy) {
      finding.severity = Severity::Warning;
      finding.message += "; whether it is idle, which lowers the speed, is not known";
    }
  }
  finding.evidence.push_back(link.shown);
  out.push_back(std::move(finding));
}

}  // namespace

void judge_nvlink(const Facts& facts, Findings& out) {
  const std::vector<Relation> pairs = direct_pairs(facts);
  if (pairs.empty() || facts.gpus.size() < 2) return;
  const bool unknown = std::any_of(facts.relations.begin(), facts.relations.end(), [](const Relation& one) {
    return one.link == Link::Unknown && one.a.starts_with("GPU") && one.b.starts_with("GPU");
  });
  if (unknown) return;  // said by the reader; nothing follows from half a matrix
  const Relations relations(facts);
  std::vector<Partners> partners;
  for (const Gpu& gpu : facts.gpus) {
    Partners one{.gpu = gpu.index, .count = 0, .most_links = 0};
    for (const Relation& pair : pairs) {
      if (pair.a != label_of(gpu) && pair.b != label_of(gpu)) continue;
      ++one.count;
      one.most_links = std::max(one.most_links, pair.links);
    }
    partners.push_back(one);
  }
  judge_missing(partners, out);
  if (pairs.size() < facts.gpus.size() * (facts.gpus.size() - 1) / 2) judge_groups(facts, relations, out);
}

void judge_pcie(const Facts& facts, Findings& out) {
  judge_acs(facts, out);
  for (const PcieLink& one : facts.pcie_links) judge_link(one, out);
}

}  // namespace verl::topology
