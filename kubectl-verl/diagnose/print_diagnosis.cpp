#include "kubectl-verl/diagnose/print_diagnosis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "base/broken_invariant.h"
#include "base/text.h"
#include "report/document.h"

namespace verl::cli {
namespace {

using diagnosis::Diagnosis;
using diagnosis::Evidence;
using diagnosis::Finding;
using diagnosis::ReadDocument;
using diagnosis::Severity;
using nlohmann::ordered_json;
using report::shown;
using report::Style;

constexpr size_t kNames = 8;
constexpr size_t kLines = 3;  // of evidence, of unread lines

Verdict verdict_of(Severity severity) {
  switch (severity) {
    case Severity::Info: return Verdict::Skipped;
    case Severity::Warning: return Verdict::Warn;
    case Severity::Unknown: return Verdict::Unknown;
    case Severity::Error: return Verdict::Fail;
  }
  broken_invariant("a severity outside its enumeration");
}

std::string place(const Evidence& one, const Style& style) {
  const std::string line = one.line > 0 ? ":" + std::to_string(one.line) : "";
  return shown(one.source, style) + line + (one.text.empty() ? "" : ": " + shown(one.text, style));
}

// Findings that say the same of several nodes are one entry.
struct Entry {
  Finding finding{};
  std::vector<Evidence> evidence{};
};

std::vector<Entry> entries(const std::vector<Finding>& findings) {
  std::vector<Entry> out;
  std::map<std::tuple<int, std::string, std::string, std::string, std::string, std::string>, size_t> known;
  for (const Finding& one : findings) {
    const auto key = std::make_tuple(static_cast<int>(one.severity), one.id, one.subject, one.seen, one.wanted, one.message);
    const auto [at, fresh] = known.try_emplace(key, out.size());
    if (fresh) {
      out.push_back({.finding = one, .evidence = one.evidence});
      continue;
    }
    Entry& entry = out[at->second];
    for (const std::string& node : one.nodes) {
      if (std::find(entry.finding.nodes.begin(), entry.finding.nodes.end(), node) == entry.finding.nodes.end()) entry.finding.nodes.push_back(node);
    }
    entry.evidence.insert(entry.evidence.end(), one.evidence.begin(), one.evidence.end());
  }
  return out;
}

std::string entry_lines(const Entry& entry, const Style& style) {
  const Finding& one = entry.finding;
  std::string head = fmt::format("{} {}", report::mark(verdict_of(one.severity), style), shown(one.subject.empty() ? one.id : one.subject, style));
  if (!one.seen.empty()) head += " " + shown(one.seen, style);
  if (!one.wanted.empty()) head += ", wants " + shown(one.wanted, style);
  std::string out = report::line_of(head, shown(one.id, style));
  if (!one.nodes.empty()) out += "    on " + shown(style.all ? join(one.nodes, ", ") : join_some(one.nodes, kNames), style) + "\n";
  if (!one.message.empty()) out += "    " + shown(one.message, style) + "\n";
  if (!one.remedy.empty()) out += "    fix: " + shown(one.remedy, style) + "\n";
  size_t lines = 0;
  for (const Evidence& evidence : entry.evidence) {
    if (!style.all && lines++ == kLines) {
      out += fmt::format("    and {} more places\n", entry.evidence.size() - kLines);
      break;
    }
    out += "    at " + place(evidence, style) + "\n";
  }
  return out;
}

// What was read, what was left alone and what nobody understood, by document.
std::string document_lines(const std::vector<ReadDocument>& documents, const Style& style) {
  std::string out;
  for (const ReadDocument& one : documents) {
    const std::int64_t unread = static_cast<std::int64_t>(one.reading.unread.size()) + one.reading.unread_more;
    if (!style.all && documents.size() > kNames && unread == 0 && one.reading.skipped.empty() && !one.format.empty() && !one.error) continue;
    out += fmt::format("  {}{}  {}", shown(one.name, style), one.node.empty() ? "" : " (" + shown(one.node, style) + ")",
                       one.format.empty() ? "not recognised" : one.format);
    if (one.error) out += ", could not be read: " + shown(one.error->message, style);
    if (!one.error && !one.format.empty()) out += fmt::format(", {} read", report::plural(static_cast<long long>(one.reading.values.size()), "value"));
    if (unread > 0) out += fmt::format(", {} not understood", report::plural(unread, "line"));
    out += "\n";
    for (const std::string& skipped : one.reading.skipped) out += "    left alone: " + shown(skipped, style) + "\n";
    size_t lines = 0;
    for (const diagnosis::UnreadLine& line : one.reading.unread) {
      if (!style.all && lines++ == kLines) break;
      out += fmt::format("    line {}: {}: {}\n", line.line, shown(line.why, style), shown(line.text, style));
    }
  }
  return out;
}

std::string summary(const std::vector<ReadDocument>& documents, const Diagnosis& diagnosis) {
  const auto read = std::count_if(documents.begin(), documents.end(), [](const ReadDocument& one) { return !one.format.empty() && !one.error; });
  std::map<Severity, long long> count;
  for (const Finding& one : diagnosis.findings) ++count[one.severity];
  std::string out = fmt::format("{} of {} read. ", read, report::plural(static_cast<long long>(documents.size()), "document"));
  out += fmt::format("{}, {}, {} unknown, {} for information", report::plural(count[Severity::Error], "error"), report::plural(count[Severity::Warning], "warning"),
                     count[Severity::Unknown], count[Severity::Info]);
  if (!diagnosis.suppressed.empty()) out += fmt::format(", {} suppressed", diagnosis.suppressed.size());
  return out + ".\n";
}

std::string table(const std::vector<ReadDocument>& documents, const Diagnosis& diagnosis, const Style& style) {
  std::string out;
  for (const Entry& entry : entries(diagnosis.findings)) out += entry_lines(entry, style);
  for (const diagnosis::Suppressed& one : diagnosis.suppressed) {
    out += report::line_of("- " + shown(one.finding.subject, style) + " suppressed", shown(one.finding.id, style)) + "    because: " + shown(one.reason, style) + "\n";
  }
  if (!out.empty()) out += "\n";
  const std::string read = document_lines(documents, style);
  if (!read.empty()) out += "documents\n" + read + "\n";
  return out + summary(documents, diagnosis);
}

ordered_json to_json(const Finding& one) {
  ordered_json evidence = ordered_json::array();
  for (const Evidence& place : one.evidence) evidence.push_back({{"source", place.source}, {"line", place.line}, {"text", place.text}});
  return {{"id", one.id},         {"severity", diagnosis::to_string(one.severity)}, {"nodes", one.nodes},   {"subject", one.subject}, {"seen", one.seen},
          {"wanted", one.wanted}, {"message", one.message},                         {"remedy", one.remedy}, {"evidence", std::move(evidence)}};
}

ordered_json to_json(const diagnosis::Value& one) {
  ordered_json value = std::visit([](const auto& scalar) { return ordered_json(scalar); }, one.value);
  // JSON has no infinity and no NaN; as null they would look as if nothing had been read.
  if (value.is_number_float() && !std::isfinite(value.get<double>())) value = fmt::format("{}", value.get<double>());
  return {{"name", one.name}, {"value", std::move(value)}, {"unit", one.unit}};
}

ordered_json to_json(const ReadDocument& one) {
  ordered_json document{{"name", one.name}, {"node", one.node}, {"format", one.format}};
  if (one.error) document["error"] = one.error->message;
  document["values"] = ordered_json::array();
  for (const diagnosis::Value& value : one.reading.values) document["values"].push_back(to_json(value));
  document["unread"] = ordered_json::array();
  for (const diagnosis::UnreadLine& line : one.reading.unread) document["unread"].push_back({{"line", line.line}, {"text", line.text}, {"why", line.why}});
  document["unreadMore"] = one.reading.unread_more;
  document["skipped"] = one.reading.skipped;
  return document;
}

}  // namespace

std::string print_diagnosis(const std::vector<ReadDocument>& documents, const Diagnosis& diagnosis, DiagnosisOutput output, const Style& style) {
  if (output == DiagnosisOutput::Table) return table(documents, diagnosis, style);
  ordered_json whole{{"schemaVersion", kDiagnosisSchema}, {"kind", "Diagnosis"}};
  whole["findings"] = ordered_json::array();
  for (const Finding& one : diagnosis.findings) whole["findings"].push_back(to_json(one));
  whole["suppressed"] = ordered_json::array();
  for (const diagnosis::Suppressed& one : diagnosis.suppressed) whole["suppressed"].push_back({{"finding", to_json(one.finding)}, {"reason", one.reason}});
  whole["documents"] = ordered_json::array();
  for (const ReadDocument& one : documents) whole["documents"].push_back(to_json(one));
  return report::json_text(whole);
}

std::string print_formats() {
  std::string out;
  for (const diagnosis::Format& one : diagnosis::all_formats()) out += fmt::format("{:<22} {}\n", one.name, one.what);
  return out;
}

}  // namespace verl::cli
