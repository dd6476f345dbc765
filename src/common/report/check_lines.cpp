#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "report/table.h"

namespace verl::report {
namespace {

constexpr size_t kNames = 8;
constexpr size_t kProblems = 12;

std::string names(const std::vector<std::string>& all, const Style& style) { return shown(style.all ? join(all, ", ") : join_some(all, kNames), style); }

std::string fix_lines(const Problem& problem, const Style& style) {
  if (problem.remedies.empty()) return "";
  const size_t more = problem.remedies.size() - 1;
  std::string out;
  for (const std::string& remedy : problem.remedies) {
    out += "      fix: " + shown(remedy, style);
    if (style.all || more == 0) {
      out += "\n";
      continue;
    }
    out += fmt::format(" (and {} more like it)\n", more);
    break;
  }
  return out;
}

}  // namespace

std::string problem_text(const Problem& problem, const Style& style) {
  std::string text = names(problem.subjects, style);
  const auto add = [&](std::string_view between, const std::string& part) {
    if (part.empty()) return;
    if (!text.empty()) text += between;
    text += shown(part, style);
  };
  add(" ", problem.seen);
  if (!problem.wanted.empty()) text += fmt::format("{}wants {}", text.empty() ? "" : ", ", shown(problem.wanted, style));
  add(text.empty() ? "" : "; ", problem.message);
  if (!problem.policy.empty() && problem.verdict != Verdict::Skipped) text += fmt::format(" (policy {})", shown(problem.policy, style));
  return text;
}

std::string check_lines(const CheckLine& check, const std::string& link, bool names_nodes, const Style& style) {
  const bool well = check.verdict == Verdict::Pass || check.verdict == Verdict::Skipped;
  std::string out = line_of(mark(check.verdict, style) + " " + shown(check.title, style), well ? "" : shown(check.id, style));
  size_t left = check.problems.size();
  for (const Problem& problem : check.problems) {
    // What was not judged is not worth a line where other nodes were judged.
    if (problem.verdict == Verdict::Skipped && check.verdict != Verdict::Skipped && !style.all) {
      --left;
      continue;
    }
    if (!style.all && check.problems.size() - left >= kProblems && left > 1) {
      out += fmt::format("    and {} more like these; -v shows all\n", left);
      break;
    }
    --left;
    const std::string who = names_nodes ? names(problem.nodes, style) : std::string();
    const std::string what = problem_text(problem, style);
    if (problem.verdict == Verdict::Skipped && what.empty() && !style.all) continue;
    // Where a check is bad, a line that is less bad says so itself.
    const std::string own = problem.verdict == check.verdict ? "" : mark(problem.verdict, style) + " ";
    out += "    " + own + who + (who.empty() || what.empty() ? "" : ": ") + what + "\n";
    out += fix_lines(problem, style);
  }
  if (!well && !link.empty()) out += "      " + shown(link, style) + "\n";
  return out;
}

std::string counts_line(bool ready, const Counts& counts) {
  return fmt::format("Ready: {}. {}, {}, {} unknown.\n", ready ? "yes" : "no", plural(counts.errors, "error"), plural(counts.warnings, "warning"), counts.unknown);
}

}  // namespace verl::report
