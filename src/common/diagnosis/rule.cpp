#include "diagnosis/rule.h"

#include <array>
#include <unordered_map>
#include <utility>

#include "base/broken_invariant.h"

namespace verl::diagnosis {
namespace {

constexpr std::array kDocumentRules{
    Rule{.id = "document-unrecognised", .severity = Severity::Unknown, .title = "a document whose format was not recognised",
         .why = "Nothing of it was judged, so it proves nothing.",
         .remedy = "name its format with --as; --formats lists them"},
    Rule{.id = "document-unreadable", .severity = Severity::Unknown, .title = "a document that could not be read as its format",
         .why = "Nothing of it was judged, so it proves nothing.",
         .remedy = "take the output anew, whole and without editing"},
    Rule{.id = "document-incomplete", .severity = Severity::Unknown, .title = "a document of which a part is missing or damaged",
         .why = "What is missing may be what is wrong.",
         .remedy = "take the output anew, whole and without editing"},
    Rule{.id = "document-lines-unread", .severity = Severity::Warning, .title = "lines of a document that its reader did not understand",
         .why = "What they say was not judged. The tool may be newer than the reader, or the text was edited.",
         .remedy = "look at the lines listed with the document; take the output anew if it was edited"},
    Rule{.id = "document-node-unknown", .severity = Severity::Info, .title = "a document given beside several nodes that says no node",
         .why = "It was judged alone: rules that need it together with its node's other documents did not look at it.",
         .remedy = "put the documents of each node into a folder of its own, or write NODE=PATH"},
};

struct Family {
  std::string_view title{};
  std::span<const Rule> rules{};
};

std::vector<Family> families() {
  return {{.title = "NCCL, Gloo and PyTorch settings", .rules = nccl_rules()},
          {.title = "Logs", .rules = log_rules()},
          {.title = "Topology", .rules = topology_rules()},
          {.title = "Time", .rules = time_rules()},
          {.title = "Interfaces, RDMA ports and counters", .rules = fabric_rules()},
          {.title = "Benchmarks", .rules = benchmark_rules()},
          {.title = "Ray, verl and Kubernetes", .rules = kubernetes_rules()},
          {.title = "Documents", .rules = document_rules()}};
}

}  // namespace

std::span<const Rule> document_rules() { return kDocumentRules; }

std::vector<Rule> all_rules() {
  std::vector<Rule> all;
  for (const Family& family : families()) all.insert(all.end(), family.rules.begin(), family.rules.end());
  return all;
}

Finding finding_of(std::string_view id, std::string subject) {
  static const std::unordered_map<std::string_view, Rule> kRules = [] {
    std::unordered_map<std::string_view, Rule> rules;
    for (const Rule& rule : all_rules()) rules.emplace(rule.id, rule);
    return rules;
  }();
  const auto rule = kRules.find(id);
  if (rule == kRules.end()) broken_invariant("a finding of a rule that is in no table: " + std::string(id));
  Finding finding;
  finding.id = std::string(id);
  finding.severity = rule->second.severity;
  finding.subject = std::move(subject);
  finding.message = std::string(rule->second.why);
  finding.remedy = std::string(rule->second.remedy);
  return finding;
}

std::string rules_as_markdown() {
  std::string text =
      "# Diagnosis rules\n\n"
      "Written from the table the code uses: `kubectl-verl diagnose --rules`. One section for each id that `diagnose`, `lint` and `nccl-log` print.\n";
  for (const Family& family : families()) {
    if (family.rules.empty()) continue;
    text += "\n## " + std::string(family.title) + "\n";
    for (const Rule& rule : family.rules) {
      text += "\n### " + std::string(rule.id) + "\n\n**" + std::string(to_string(rule.severity)) + "**: " + std::string(rule.title) + ".\n\n" +
              std::string(rule.why) + "\n\nRemedy: " + std::string(rule.remedy) + ".\n";
    }
  }
  return text;
}

std::string_view to_string(Severity severity) {
  switch (severity) {
    case Severity::Info: return "info";
    case Severity::Warning: return "warning";
    case Severity::Unknown: return "unknown";
    case Severity::Error: return "error";
  }
  broken_invariant("a severity outside its enumeration");
}

}  // namespace verl::diagnosis
