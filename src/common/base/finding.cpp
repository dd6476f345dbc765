#include "base/finding.h"

#include <algorithm>

#include "base/broken_invariant.h"

namespace verl {
namespace {

int weight(Verdict verdict) {
  switch (verdict) {
    case Verdict::Skipped: return 0;
    case Verdict::Pass: return 1;
    case Verdict::Warn: return 2;
    case Verdict::Unknown: return 3;
    case Verdict::Fail: return 4;
  }
  broken_invariant("a Verdict outside its enumeration");
}

}  // namespace

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::Pass: return "Pass";
    case Verdict::Warn: return "Warn";
    case Verdict::Fail: return "Fail";
    case Verdict::Unknown: return "Unknown";
    case Verdict::Skipped: return "Skipped";
  }
  broken_invariant("a Verdict outside its enumeration");
}

Verdict worst(const std::vector<Finding>& findings) {
  const auto found = std::max_element(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    return weight(a.verdict) < weight(b.verdict);
  });
  if (found == findings.end() || found->verdict == Verdict::Skipped) return Verdict::Unknown;
  return found->verdict;
}

}  // namespace verl
