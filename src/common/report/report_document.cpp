// The report as programs read it. Field names and order are those of docs/schemas/report-v1.json.
#include <nlohmann/json.hpp>

#include "report/report_text.h"

namespace verl::report {
namespace {

using Json = nlohmann::ordered_json;

void put(Json& object, const char* key, const std::string& text) {
  if (!text.empty()) object[key] = text;
}

template <class T, class ToJson>
Json list_of(const std::vector<T>& all, ToJson&& to_json) {
  Json out = Json::array();
  for (const T& one : all) out.push_back(to_json(one));
  return out;
}

Json to_json(const ClusterLine& line, const std::string& docs_url) {
  Json out{{"verdict", std::string(to_string(line.verdict))}};
  put(out, "id", line.id);
  out["title"] = line.title;
  out["count"] = line.count;
  out["details"] = line.details;
  put(out, "remedy", line.remedy);
  put(out, "docs", condition_link(docs_url, line.id));
  return out;
}

Json to_json(const NodeLine& node, const ReportInput& input) {
  Json out{{"name", node.name}, {"verdict", std::string(to_string(node.word))}};
  put(out, "reason", node.reason);
  put(out, "message", node.message);
  out["gpus"] = node.gpus;
  Json domains = Json::array();
  for (size_t i = 0; i < input.levels.size() && i < node.domains.size(); ++i) {
    if (!node.domains[i].empty()) domains.push_back({{"level", input.levels[i]}, {"domain", node.domains[i]}});
  }
  out["domains"] = std::move(domains);
  put(out, "policy", node.policy);
  out["reportCounts"] = node.believed;
  put(out, "heldBack", node.held_back);
  out["findings"] = list_of(node.findings, [&](const Finding& f) { return document_of(f, input.docs_url); });
  return out;
}

Json to_json(const Problem& problem) {
  Json out{{"verdict", std::string(to_string(problem.verdict))}, {"nodes", problem.nodes}};
  if (!problem.subjects.empty()) out["subjects"] = problem.subjects;
  put(out, "seen", problem.seen);
  put(out, "wanted", problem.wanted);
  put(out, "message", problem.message);
  if (!problem.remedies.empty()) out["remedies"] = problem.remedies;
  put(out, "policy", problem.policy);
  return out;
}

Json to_json(const Section& section, const std::string& docs_url, bool reasons) {
  Json checks = Json::array();
  for (const CheckLine& check : section.checks) {
    Json one = Json::object();
    put(one, "id", check.id);
    one["title"] = check.title;
    one["verdict"] = std::string(to_string(check.verdict));
    put(one, "docs", reasons ? condition_link(docs_url, check.id) : check_link(docs_url, check.id));
    one["problems"] = list_of(check.problems, [](const Problem& p) { return to_json(p); });
    checks.push_back(std::move(one));
  }
  return {{"name", section.name}, {"good", section.good}, {"judged", section.judged}, {"checks", std::move(checks)}};
}

Json to_json(const LargestSet& largest) {
  return {{"nodes", largest.nodes}, {"gpus", largest.gpus}, {"levels", list_of(largest.levels, [](const LevelSet& level) {
            return Json{{"level", level.level}, {"nodes", level.nodes}, {"gpus", level.gpus}, {"domains", level.domains}};
          })}};
}

}  // namespace

Json document_of(const Finding& finding, std::string_view docs_url) {
  Json out{{"check", finding.check}, {"verdict", std::string(to_string(finding.verdict))}};
  put(out, "subject", finding.subject);
  put(out, "seen", finding.seen);
  put(out, "wanted", finding.wanted);
  put(out, "remedy", finding.remedy);
  put(out, "message", finding.message);
  put(out, "docs", check_link(docs_url, finding.check));
  return out;
}

Json document_of(const ReadinessReport& report) {
  const ReportInput& input = report.input;
  Json out{{"schemaVersion", kSchemaVersion}, {"kind", "ReadinessReport"}};
  if (input.time) out["time"] = format_rfc3339(*input.time);
  put(out, "source", input.source);
  out["ready"] = report.ready;
  out["counts"] = {{"errors", report.counts.errors}, {"warnings", report.counts.warnings}, {"unknown", report.counts.unknown}};
  out["largestReadySet"] = to_json(report.largest);
  out["levels"] = input.levels;
  out["cluster"] = list_of(input.cluster, [&](const ClusterLine& line) { return to_json(line, input.docs_url); });
  out["nodes"] = list_of(input.nodes, [&](const NodeLine& node) { return to_json(node, input); });
  Json sections = Json::array();
  for (size_t i = 0; i < report.sections.size(); ++i) sections.push_back(to_json(report.sections[i], input.docs_url, i == 0));
  out["sections"] = std::move(sections);
  return out;
}

}  // namespace verl::report
