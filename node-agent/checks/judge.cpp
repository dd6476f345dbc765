#include "node-agent/checks/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "api/check_catalogue.h"
#include "base/text.h"
#include "diagnosis/topology/pci.h"
#include "node-agent/checks/scope.h"

namespace verl::agent {
namespace {

constexpr size_t kMostFindings = 128;   // what the API takes
constexpr size_t kLongestSubject = 253;
constexpr size_t kLongestText = 512;

size_t rank_in_catalogue(const Finding& finding) {
  const api::CheckEntry* entry = api::find_check(finding.check);
  return entry == nullptr ? api::kChecks.size() : static_cast<size_t>(entry - api::kChecks.data());
}

int severity(Verdict verdict) {
  switch (verdict) {
    case Verdict::Fail: return 0;
    case Verdict::Unknown: return 1;
    case Verdict::Warn: return 2;
    case Verdict::Pass: return 3;
    case Verdict::Skipped: return 4;
  }
  return 0;
}

// Too many findings: the worst of each check stays, since a check without a finding would look as if nobody had asked for it.
// Of the others the harmless ones go first, and what went is said under the check that it was about.
void bound(std::vector<Finding>& findings) {
  if (findings.size() <= kMostFindings) return;
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) { return severity(a.verdict) < severity(b.verdict); });
  std::set<std::string> said;
  std::vector<Finding> out;
  std::vector<Finding> others;
  for (Finding& finding : findings) (said.insert(finding.check).second ? out : others).push_back(std::move(finding));
  out.insert(out.end(), std::make_move_iterator(others.begin()), std::make_move_iterator(others.end()));
  const size_t left_out = out.size() - (kMostFindings - 1);
  const Verdict worst_left_out = out[kMostFindings - 1].verdict;
  const std::string check = out[kMostFindings - 1].check;
  out.resize(kMostFindings - 1);
  // Leaving out anything but good news must not look better than it is.
  out.push_back({.check = check,
                 .verdict = severity(worst_left_out) <= severity(Verdict::Unknown) ? Verdict::Unknown : worst_left_out,
                 .message = fmt::format("{} more findings are left out, none worse than {}", left_out, to_string(worst_left_out))});
  findings = std::move(out);
}

std::vector<Finding> with_actions(std::vector<Finding> findings, const api::Expectations& expectations) {
  std::vector<Finding> out;
  for (Finding& finding : findings) {
    const api::CheckAction action = api::action_of(finding.check, expectations);
    if (action == api::CheckAction::Off) {
      const bool said = std::any_of(out.begin(), out.end(), [&](const Finding& one) { return one.check == finding.check; });
      if (!said) out.push_back({.check = finding.check, .verdict = Verdict::Skipped, .message = "switched off by the policy"});
      continue;
    }
    if (action == api::CheckAction::Warn && finding.verdict == Verdict::Fail) finding.verdict = Verdict::Warn;
    for (std::string* text : {&finding.subject, &finding.seen, &finding.wanted, &finding.remedy, &finding.message}) {
      *text = shorten(escape_controls(*text), text == &finding.subject ? kLongestSubject : kLongestText);
    }
    out.push_back(std::move(finding));
  }
  return out;
}

}  // namespace

std::vector<Finding> judge(const JudgeInput& input) {
  std::vector<Finding> findings;
  for (auto part : {judge_network, judge_rdma, judge_time, judge_host}) {
    auto some = part(input);
    findings.insert(findings.end(), std::make_move_iterator(some.begin()), std::make_move_iterator(some.end()));
  }
  findings = with_actions(std::move(findings), input.spec.expectations);
  bound(findings);
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return rank_in_catalogue(a) < rank_in_catalogue(b); });
  return findings;
}

}  // namespace verl::agent
