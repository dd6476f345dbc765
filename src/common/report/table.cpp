// The report as people read it: cluster, nodes, one section per kind of check, and the answer in the last two lines.
#include "report/table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "report/report_text.h"

namespace verl::report {
namespace {

constexpr size_t kNodes = 20;

Verdict verdict_of(const NodeLine& node) {
  if (node.word == Word::NotReady) return Verdict::Fail;
  if (node.word == Word::Unknown) return Verdict::Unknown;
  return node.held_back.empty() ? Verdict::Pass : Verdict::Warn;
}

std::string cluster_lines(const ReadinessReport& report, const Style& style) {
  if (report.input.cluster.empty()) return "";
  std::string out = heading("cluster", "");
  for (const ClusterLine& line : report.input.cluster) {
    const bool well = line.verdict == Verdict::Pass || line.verdict == Verdict::Skipped;
    out += line_of(mark(line.verdict, style) + " " + shown(line.title, style), well ? "" : shown(line.id, style));
    for (const std::string& detail : line.details) out += "    " + shown(detail, style) + "\n";
    if (!line.remedy.empty()) out += "      fix: " + shown(line.remedy, style) + "\n";
    if (const auto link = condition_link(report.input.docs_url, line.id); !well && !link.empty()) out += "      " + shown(link, style) + "\n";
  }
  return out;
}

std::string domains_of(const NodeLine& node, const Style& style) {
  std::vector<std::string> parts;
  for (const std::string& domain : node.domains) parts.push_back(domain.empty() ? "?" : shown(domain, style));
  return join(parts, "/");
}

std::string node_lines(const ReadinessReport& report, const Style& style) {
  const auto& nodes = report.input.nodes;
  const auto well = static_cast<size_t>(std::count_if(nodes.begin(), nodes.end(), [](const NodeLine& n) { return verdict_of(n) == Verdict::Pass; }));
  const size_t bad = nodes.size() - well;
  const size_t listed = style.all ? nodes.size() : bad > kNodes ? kNodes - 1 : bad;
  std::string out = heading("nodes", fmt::format("{} of {} ready", well, nodes.size()));
  size_t name_width = 0;
  size_t gpu_width = 0;
  size_t domain_width = 0;
  for (size_t i = 0; i < listed; ++i) {
    name_width = std::max(name_width, display_width(shown(nodes[i].name, style)));
    gpu_width = std::max(gpu_width, plural(nodes[i].gpus, "GPU").size());
    domain_width = std::max(domain_width, display_width(domains_of(nodes[i], style)));
  }
  for (size_t i = 0; i < listed; ++i) {
    const NodeLine& node = nodes[i];
    std::string line = mark(verdict_of(node), style) + " " + pad(shown(node.name, style), name_width) + "  " + pad(plural(node.gpus, "GPU"), gpu_width);
    if (domain_width > 0) line += "  " + pad(domains_of(node, style), domain_width);
    line += "  " + shown(node.reason, style);
    if (!node.held_back.empty()) line += "; " + shown(node.held_back, style);
    out += line + "\n";
  }
  if (!style.all && listed < bad) out += fmt::format("  and {} more that are not ready; -v shows all\n", bad - listed);
  if (!style.all && well > 0) out += fmt::format("{} {}{}\n", mark(Verdict::Pass, style), well, bad > 0 ? " more are ready" : well == 1 ? " is ready" : " are ready");
  if (nodes.empty()) out += mark(Verdict::Unknown, style) + " no node offers GPUs or is selected by a ReadinessPolicy\n";
  return out;
}

std::string section_lines(const ReadinessReport& report, const Section& section, bool reasons, const Style& style) {
  const std::string right = section.judged == 0 ? "not judged" : fmt::format("{} of {}", section.good, plural(section.judged, "node"));
  std::string out = heading(shown(section.name, style), right);
  for (const CheckLine& check : section.checks) {
    const auto& docs = report.input.docs_url;
    out += check_lines(check, reasons ? condition_link(docs, check.id) : check_link(docs, check.id), true, style);
  }
  return out;
}

std::string count_of(std::int32_t nodes, std::int64_t gpus, bool words) {
  return words ? fmt::format("{} / {}", plural(nodes, "node"), plural(gpus, "GPU")) : fmt::format("{} / {}", nodes, gpus);
}

std::string largest_line(const LargestSet& largest, const Style& style) {
  std::string out = "Largest ready set: " + count_of(largest.nodes, largest.gpus, true);
  for (size_t i = 0; i < largest.levels.size(); ++i) {
    const LevelSet& level = largest.levels[i];
    out += fmt::format("; in one {} {}", shown(level.level, style), count_of(level.nodes, level.gpus, false));
    if (!level.domains.empty()) out += fmt::format(" ({})", shown(join_some(level.domains, 4), style));
  }
  return out + ".\n";
}

}  // namespace

std::string table_text(const ReadinessReport& report, const Style& style) {
  std::string out = cluster_lines(report, style);
  if (!out.empty()) out += "\n";
  out += node_lines(report, style);
  for (size_t i = 0; i < report.sections.size(); ++i) {
    const Section& section = report.sections[i];
    const bool reasons = i == 0;  // the first section is about reports, its ids are reasons
    if (!report.input.nodes.empty()) out += "\n" + section_lines(report, section, reasons, style);
  }
  return out + "\n" + counts_line(report.ready, report.counts) + largest_line(report.largest, style);
}

}  // namespace verl::report
