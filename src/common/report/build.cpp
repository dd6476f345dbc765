#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "api/check_catalogue.h"
#include "base/broken_invariant.h"
#include "report/readiness.h"

namespace verl::report {
namespace {

constexpr std::string_view kOtherSection = "other";
constexpr std::string_view kReportsSection = "reports";
constexpr std::string_view kReportsTitle = "the report of every node counts";

bool bad(Verdict verdict) { return verdict == Verdict::Fail || verdict == Verdict::Unknown; }

int word_rank(Word word) {
  switch (word) {
    case Word::NotReady: return 0;
    case Word::Unknown: return 1;
    case Word::Ready: return 2;
  }
  broken_invariant("a Word outside its enumeration");
}

// Nothing in its report says why it is not ready, so the verdict itself has to be shown.
bool unexplained(const NodeLine& node) {
  if (!node.believed) return true;
  return node.word != Word::Ready && std::none_of(node.findings.begin(), node.findings.end(), [](const Finding& f) { return bad(f.verdict); });
}

void count(Counts& counts, Verdict verdict, std::int32_t times = 1) {
  if (verdict == Verdict::Fail) counts.errors += times;
  if (verdict == Verdict::Unknown) counts.unknown += times;
  if (verdict == Verdict::Warn) counts.warnings += times;
}

bool worse(const Problem& a, const Problem& b) {
  if (rank_of(a.verdict) != rank_of(b.verdict)) return rank_of(a.verdict) < rank_of(b.verdict);
  if (a.nodes.size() != b.nodes.size()) return a.nodes.size() > b.nodes.size();
  return std::tie(a.nodes, a.subjects, a.seen) < std::tie(b.nodes, b.subjects, b.seen);
}

// What must be equal for findings of two nodes to be one problem.
using ProblemKey = std::tuple<Verdict, std::string, std::string, std::string, std::string, std::vector<std::string>, std::vector<std::string>>;

class CheckGrouping {
 public:
  // All findings of one check on one node. Those that differ by their subject alone become one.
  void add(const NodeLine& node, const std::vector<Finding>& findings) {
    std::map<std::tuple<Verdict, std::string, std::string, std::string>, std::pair<std::set<std::string>, std::set<std::string>>> same;
    for (const Finding& f : findings) {
      if (f.verdict == Verdict::Pass) continue;
      auto& [subjects, remedies] = same[{f.verdict, f.seen, f.wanted, f.message}];
      if (!f.subject.empty()) subjects.insert(f.subject);
      if (!f.remedy.empty()) remedies.insert(f.remedy);
    }
    for (const auto& entry : same) {
      const auto& [verdict, seen, wanted, message] = entry.first;
      const auto& [subjects, remedies] = entry.second;
      nodes_[{verdict, seen, wanted, message, node.policy, {subjects.begin(), subjects.end()}, {remedies.begin(), remedies.end()}}].push_back(node.name);
    }
    verdicts_.push_back(Finding{.verdict = worst_of(findings)});
  }

  CheckLine line(std::string id, std::string title) const {
    CheckLine line{.id = std::move(id), .title = std::move(title), .verdict = worst_of(verdicts_)};
    for (const auto& entry : nodes_) {
      const auto& [verdict, seen, wanted, message, policy, subjects, remedies] = entry.first;
      Problem problem{.verdict = verdict, .nodes = entry.second, .subjects = subjects, .seen = seen, .wanted = wanted,
                      .message = message, .remedies = remedies, .policy = policy};
      std::sort(problem.nodes.begin(), problem.nodes.end());
      line.problems.push_back(std::move(problem));
    }
    std::sort(line.problems.begin(), line.problems.end(), worse);
    return line;
  }

 private:
  std::map<ProblemKey, std::vector<std::string>> nodes_{};
  std::vector<Finding> verdicts_{};
};

std::string section_of(std::string_view check) {
  const api::CheckEntry* entry = api::find_check(check);
  return std::string(entry == nullptr ? kOtherSection : entry->group);
}

// Place of a check in the catalogue, those that it lacks at the end.
size_t order_of(std::string_view check) {
  const api::CheckEntry* entry = api::find_check(check);
  return entry == nullptr ? api::kChecks.size() : static_cast<size_t>(entry - api::kChecks.data());
}

using ByCheck = std::map<std::pair<size_t, std::string>, std::vector<Finding>>;  // catalogue order, id

ByCheck by_check(const NodeLine& node) {
  ByCheck out;
  for (const Finding& finding : node.findings) out[{order_of(finding.check), finding.check}].push_back(finding);
  return out;
}

Verdict worst_check(const Section& section) {
  std::vector<Finding> all;
  for (const CheckLine& line : section.checks) all.push_back(Finding{.verdict = line.verdict});
  return worst_of(all);
}

// Why reports do not count, one problem per reason and sentence.
Section reports_section(const std::vector<NodeLine>& nodes) {
  Section section{.name = std::string(kReportsSection)};
  std::map<std::string, CheckGrouping> by_reason;
  for (const NodeLine& node : nodes) {
    ++section.judged;
    if (!unexplained(node)) {
      ++section.good;
      continue;
    }
    const Verdict verdict = node.believed && node.word == Word::NotReady ? Verdict::Fail : Verdict::Unknown;
    by_reason[node.reason].add(NodeLine{.name = node.name}, {Finding{.verdict = verdict, .message = node.message}});
  }
  for (const auto& entry : by_reason) section.checks.push_back(entry.second.line(entry.first, std::string(kReportsTitle)));
  if (section.checks.empty()) section.checks.push_back({.title = std::string(kReportsTitle), .verdict = nodes.empty() ? Verdict::Unknown : Verdict::Pass});
  return section;
}

std::vector<Section> check_sections(const std::vector<NodeLine>& nodes) {
  std::map<std::pair<size_t, std::string>, CheckGrouping> checks;
  std::map<std::string, size_t> order;  // section → its first check
  for (const NodeLine& node : nodes) {
    if (!node.believed) continue;
    for (const auto& entry : by_check(node)) {
      checks[entry.first].add(node, entry.second);
      const auto at = order.emplace(section_of(entry.first.second), entry.first.first).first;
      at->second = std::min(at->second, entry.first.first);
    }
  }
  std::vector<Section> sections;
  for (const auto& known : order) {
    Section section{.name = known.first};
    for (const auto& entry : checks) {
      if (section_of(entry.first.second) != section.name) continue;
      const api::CheckEntry* catalogued = api::find_check(entry.first.second);
      section.checks.push_back(entry.second.line(entry.first.second, std::string(catalogued == nullptr ? entry.first.second : catalogued->title)));
    }
    std::stable_sort(section.checks.begin(), section.checks.end(), [](const CheckLine& a, const CheckLine& b) { return rank_of(a.verdict) < rank_of(b.verdict); });
    std::int32_t not_known = 0;
    for (const NodeLine& node : nodes) {
      if (!node.believed) {
        ++not_known;
        continue;
      }
      std::vector<Finding> own;
      for (const Finding& finding : node.findings) {
        if (section_of(finding.check) == section.name) own.push_back(finding);
      }
      const Verdict verdict = worst_of(own);
      if (own.empty() || verdict == Verdict::Skipped) continue;
      ++section.judged;
      section.good += bad(verdict) ? 0 : 1;
    }
    if (section.judged > 0) section.judged += not_known;
    sections.push_back(std::move(section));
  }
  std::stable_sort(sections.begin(), sections.end(), [&](const Section& a, const Section& b) {
    if (worst_check(a) != worst_check(b)) return rank_of(worst_check(a)) < rank_of(worst_check(b));
    return order.at(a.name) < order.at(b.name);
  });
  return sections;
}

Counts count_all(const ReportInput& input) {
  Counts counts{};
  for (const ClusterLine& line : input.cluster) count(counts, line.verdict, line.count);
  for (const NodeLine& node : input.nodes) {
    if (unexplained(node)) count(counts, node.believed && node.word == Word::NotReady ? Verdict::Fail : Verdict::Unknown);
    if (!node.believed) continue;
    for (const auto& entry : by_check(node)) count(counts, worst_of(entry.second));
  }
  // Nothing looked at is nothing known.
  if (input.nodes.empty()) ++counts.unknown;
  return counts;
}

}  // namespace

std::string_view to_string(Word word) {
  switch (word) {
    case Word::Ready: return "Ready";
    case Word::NotReady: return "NotReady";
    case Word::Unknown: return "Unknown";
  }
  broken_invariant("a Word outside its enumeration");
}

int rank_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::Fail: return 0;
    case Verdict::Unknown: return 1;
    case Verdict::Warn: return 2;
    case Verdict::Pass: return 3;
    case Verdict::Skipped: return 4;
  }
  broken_invariant("a Verdict outside its enumeration");
}

Verdict worst_of(const std::vector<Finding>& findings) {
  if (findings.empty()) return Verdict::Unknown;
  const auto first = std::min_element(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) { return rank_of(a.verdict) < rank_of(b.verdict); });
  return first->verdict;
}

ReadinessReport build(ReportInput input) {
  std::stable_sort(input.nodes.begin(), input.nodes.end(), [](const NodeLine& a, const NodeLine& b) {
    const auto key = [](const NodeLine& n) { return std::make_tuple(word_rank(n.word), n.held_back.empty(), std::string_view(n.name)); };
    return key(a) < key(b);
  });
  std::stable_sort(input.cluster.begin(), input.cluster.end(), [](const ClusterLine& a, const ClusterLine& b) { return rank_of(a.verdict) < rank_of(b.verdict); });
  ReadinessReport report{.input = std::move(input)};
  report.counts = count_all(report.input);
  report.largest = largest_ready_set(report.input);
  report.sections.push_back(reports_section(report.input.nodes));
  for (Section& section : check_sections(report.input.nodes)) report.sections.push_back(std::move(section));
  report.ready = report.counts.errors == 0 && report.counts.unknown == 0 && report.largest.nodes > 0;
  return report;
}

bool fails(const ReadinessReport& report, FailOn level) { return !report.ready || (level == FailOn::Warning && report.counts.warnings > 0); }

}  // namespace verl::report
