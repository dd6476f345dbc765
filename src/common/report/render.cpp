#include "report/render.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/broken_invariant.h"
#include "report/document.h"
#include "report/report_text.h"
#include "report/table.h"

namespace verl::report {
namespace {

using Json = nlohmann::ordered_json;

// The checks of one node, as a report of that node alone has them.
ReadinessReport alone(const NodeLine& node) {
  NodeLine own = node;
  own.word = Word::Ready;  // what its findings say is what counts
  own.believed = true;      // it is of this machine, just made
  return build(ReportInput{.nodes = {std::move(own)}});
}

bool judged(const NodeLine& node) {
  for (const Finding& finding : node.findings) {
    if (finding.verdict != Verdict::Skipped) return true;
  }
  return false;
}

std::string node_table(const NodeLine& node, std::string_view docs_url, const Style& style) {
  const ReadinessReport report = alone(node);
  std::string out;
  for (size_t i = 1; i < report.sections.size(); ++i) {
    const Section& section = report.sections[i];
    out += heading(shown(section.name, style), section.judged == 0 ? "not judged" : "");
    for (const CheckLine& check : section.checks) out += check_lines(check, check_link(docs_url, check.id), false, style);
    out += "\n";
  }
  Counts counts = report.counts;
  if (!judged(node)) ++counts.unknown;
  if (!judged(node)) out += mark(Verdict::Unknown, style) + " nothing was judged\n\n";
  return out + counts_line(!fails(node, FailOn::Error), counts);
}

Json node_document(const NodeLine& node, std::string_view docs_url, std::string_view facts_json) {
  Json out{{"schemaVersion", kSchemaVersion}, {"kind", "NodeReport"}, {"node", node.name}, {"ready", !fails(node, FailOn::Error)}};
  Json findings = Json::array();
  for (const Finding& finding : node.findings) findings.push_back(document_of(finding, docs_url));
  out["findings"] = std::move(findings);
  if (Json facts = Json::parse(facts_json, nullptr, false); facts.is_object()) out["status"] = std::move(facts);
  return out;
}

std::string print(const Json& document, Format format) { return format == Format::Yaml ? yaml_text(document) : json_text(document); }

}  // namespace

std::string render(const ReadinessReport& report, Format format, const Style& style) {
  return format == Format::Table ? table_text(report, style) : print(document_of(report), format);
}

std::string render_node(const NodeLine& node, std::string_view docs_url, Format format, const Style& style, std::string_view facts_json) {
  return format == Format::Table ? node_table(node, docs_url, style) : print(node_document(node, docs_url, facts_json), format);
}

bool fails(const NodeLine& node, FailOn level) {
  if (!judged(node)) return true;
  const int worst = rank_of(worst_of(node.findings));
  return worst <= rank_of(level == FailOn::Warning ? Verdict::Warn : Verdict::Unknown);
}

std::string check_link(std::string_view docs_url, std::string_view check) {
  return docs_url.empty() || check.empty() ? "" : fmt::format("{}/checks.md#{}", docs_url, check);
}

std::string condition_link(std::string_view docs_url, std::string_view reason) {
  if (docs_url.empty() || reason.empty()) return "";
  std::string anchor(reason);
  for (char& c : anchor) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return fmt::format("{}/conditions.md#{}", docs_url, anchor);
}

}  // namespace verl::report
