// One node's clock, from all that its tools said: the daemon's word before the kernel's, the kernel's number before a flag.
#include "diagnosis/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "diagnosis/rule.h"
#include "diagnosis/time/text_lines.h"

namespace verl::diagnosis {
namespace {

using clock::State;
using clock::Statement;
using clock::Witness;
using time_text::span_text;

constexpr double kPanicOfNtpd = 1000;  // seconds; ntpd exits beyond it (-g apart)

bool is_daemon(Witness witness) { return witness < Witness::PtpClock; }

double seconds(Microseconds limit) { return static_cast<double>(limit.count()) / 1e6; }

Finding with_evidence(Finding finding, const Statement& statement) {
  if (statement.evidence.line > 0) finding.evidence.push_back(statement.evidence);
  return finding;
}

void judge_state(const Statement& decisive, const Policy& policy, Findings& out) {
  switch (decisive.state) {
    case State::Synchronised:
      if (decisive.server_is_local && !policy.allow_local_reference) {
        Finding finding = with_evidence(finding_of("clock-local-reference", decisive.reference.empty() ? "clock" : decisive.reference), decisive);
        finding.seen = decisive.stratum ? fmt::format("stratum {}", *decisive.stratum) : "";
        finding.message = fmt::format("{} runs on its own clock: the nodes that follow it agree with each other, not with the world", finding.subject);
        out.push_back(std::move(finding));
      }
      return;
    case State::KernelOnly: return;
    case State::LocalOnly: {
      Finding finding = with_evidence(finding_of("clock-local-only", "clock"), decisive);
      finding.seen = decisive.why;
      finding.message = fmt::format("synchronised only to its local clock ({})", decisive.why);
      out.push_back(std::move(finding));
      return;
    }
    case State::Lost:
    case State::Unsynchronised: {
      const bool starting = decisive.starting && !(decisive.offset_s && std::abs(*decisive.offset_s) > seconds(policy.clock_fail));
      Finding finding = with_evidence(finding_of(starting ? "clock-starting" : "clock-sync", "clock"), decisive);
      finding.seen = decisive.why;
      finding.message = starting ? fmt::format("{}: no source is selected yet, which may end by itself; ask again", decisive.why) : fmt::format("{}: the clock follows no time source", decisive.why);
      out.push_back(std::move(finding));
      return;
    }
    case State::Unknown: return;
  }
}

// The best measure of how far the clock is off: the daemon's, else the kernel's pending correction.
void judge_offset(const clock::Facts& facts, const Policy& policy, Findings& out) {
  const Statement* measured = nullptr;
  for (const Statement& one : facts.statements) {
    if (!one.offset_s || one.witness == Witness::Journal || one.state == State::LocalOnly) continue;
    if (!measured || one.witness < measured->witness) measured = &one;
  }
  if (!measured) return;
  const double offset = *measured->offset_s;
  const double worst = std::max(std::abs(offset), measured->bound_s.value_or(0));
  if (!(worst > seconds(policy.clock_warn))) return;
  Finding finding = with_evidence(finding_of("clock-error", "clock"), *measured);
  finding.severity = worst > seconds(policy.clock_fail) ? Severity::Error : Severity::Warning;
  finding.seen = measured->bound_s ? fmt::format("within {} (offset {})", span_text(worst), span_text(offset)) : span_text(offset);
  finding.wanted = fmt::format("within {} (not ready beyond {})", span_text(seconds(policy.clock_warn)), span_text(seconds(policy.clock_fail)));
  finding.message = fmt::format("{}: the clock is {} {} its source{}", measured->tool, span_text(std::abs(offset)), offset >= 0 ? "ahead of" : "behind",
                                measured->bound_s ? fmt::format(", and may be off by {}", span_text(worst)) : "");
  if (measured->witness == Witness::Ntpd && std::abs(offset) > kPanicOfNtpd) {
    finding.message += fmt::format("; ntpd gives up beyond {} s instead of correcting it", kPanicOfNtpd);
    finding.remedy = "stop ntpd, set the clock once (ntpd -gq), start it again";
  }
  if (std::abs(std::abs(offset) - 37) < 1) finding.message += "; 37 s is the difference of TAI and UTC: a PTP clock is taken for UTC";
  const double half_hours = std::abs(offset) / 1800;
  if (half_hours > 0.9 && std::abs(half_hours - std::round(half_hours)) < 0.005) finding.message += "; whole half hours mean a wrong time zone, or a hardware clock in local time";
  out.push_back(std::move(finding));
}

void judge_kernel_beside(const Statement& decisive, const clock::Facts& facts, Findings& out) {
  const bool disciplined = decisive.state == State::Synchronised || decisive.state == State::KernelOnly;
  if (!disciplined) return;
  bool said = false;
  for (const Statement& one : facts.statements) {
    if (one.witness == Witness::Kernel && is_daemon(decisive.witness) && one.state == State::Unsynchronised) {
      Finding finding = with_evidence(finding_of("clock-kernel-disagrees", "clock"), one);
      finding.seen = one.why;
      finding.message = fmt::format("{}, but {}", decisive.why, one.why);
      out.push_back(std::move(finding));
      continue;
    }
    const bool flag_only = one.flag && !*one.flag && (one.witness == Witness::Kernel || one.witness == Witness::SystemFlag);
    if (!flag_only || said) continue;
    said = true;
    Finding finding = with_evidence(finding_of("clock-rtcsync", "clock"), one);
    finding.seen = one.max_error_s ? fmt::format("unsynchronised flag set, maximum error {}", span_text(*one.max_error_s)) : "unsynchronised flag set";
    finding.message = fmt::format("{} says unsynchronised while {}: rtcsync is not set, the flag alone means nothing", one.tool,
                                  is_daemon(decisive.witness) ? decisive.why : "the kernel's maximum error is below 16 s");
    out.push_back(std::move(finding));
  }
}

void judge_daemons(const clock::Facts& facts, Findings& out) {
  std::vector<const Statement*> active;
  for (const Statement& one : facts.statements) {
    const bool keeps = is_daemon(one.witness) && one.state != State::Unknown && one.state != State::Unsynchronised;
    if (keeps && std::none_of(active.begin(), active.end(), [&](const Statement* other) { return other->witness == one.witness; })) active.push_back(&one);
  }
  if (active.size() < 2) return;
  Finding finding = with_evidence(with_evidence(finding_of("clock-two-daemons", "clock"), *active[0]), *active[1]);
  finding.seen = active[0]->tool + ", " + active[1]->tool;
  finding.message = fmt::format("both {} and {} keep this clock", active[0]->tool, active[1]->tool);
  out.push_back(std::move(finding));
}

void judge_aside(const Statement& one, Findings& out) {
  if (one.rtc_local && *one.rtc_local) out.push_back(with_evidence(finding_of("clock-rtc-local", "clock"), one));
  if (one.leap_second) out.push_back(with_evidence(finding_of("clock-leap-second", "clock"), one));
  if (one.witness == Witness::Journal && one.state == State::Unsynchronised) {
    Finding finding = with_evidence(finding_of("clock-sync", "journal"), one);
    finding.seen = one.why;
    finding.message = one.why;
    out.push_back(std::move(finding));
  }
}

}  // namespace

void judge_time(const NodeFacts& node, const Policy& policy, Findings& out) {
  const clock::Facts& facts = node.clock;
  if (facts.statements.empty()) return;
  for (const Statement& one : facts.statements) judge_aside(one, out);
  judge_daemons(facts, out);
  judge_offset(facts, policy, out);
  if (const Statement* decisive = clock::decisive(facts)) {
    judge_state(*decisive, policy, out);
    judge_kernel_beside(*decisive, facts, out);
    return;
  }
  const auto ptp = std::find_if(facts.statements.begin(), facts.statements.end(), [](const Statement& one) { return one.witness == Witness::PtpClock; });
  if (ptp != facts.statements.end()) {
    if (ptp->state != State::Synchronised) return judge_state(*ptp, policy, out);
    out.push_back(with_evidence(finding_of("clock-ptp-system", "clock"), *ptp));
    return;
  }
  const Statement& last = facts.statements.back();
  if (last.witness == Witness::Journal) return;
  Finding finding = with_evidence(finding_of("clock-sync", "clock"), last);
  finding.severity = Severity::Unknown;
  finding.seen = last.why;
  finding.message = fmt::format("nothing given says whether the clock follows a time source{}{}", last.why.empty() ? "" : ": ", last.why);
  out.push_back(std::move(finding));
}

}  // namespace verl::diagnosis
