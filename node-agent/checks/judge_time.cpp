// The clock: does it follow a source, and within which bound of error.
#include <fmt/format.h>

#include "node-agent/checks/judge.h"

namespace verl::agent {
namespace {

std::string milliseconds(Microseconds t) { return fmt::format("{:.3f} ms", static_cast<double>(t.count()) / 1000.0); }

// The daemon's word counts where there is one; the kernel's only where no daemon listens.
clock::Judgement judgement_of(const TimeObservation& time) {
  if (time.daemon) return clock::judge_daemon(*time.daemon, time.now);
  if (!time.daemon_absent) return {.state = clock::State::Unknown, .evidence = time.daemon.error(), .reference = {}, .offset = {}, .bound = {}};
  if (time.kernel) return clock::judge_kernel(*time.kernel);
  return {.state = clock::State::Unknown, .evidence = time.kernel.error(), .reference = {}, .offset = {}, .bound = {}};
}

Finding judge_sync(const clock::Judgement& judgement, bool daemon_absent) {
  Finding finding{.check = "clock-sync", .subject = "clock", .seen = judgement.evidence, .wanted = "a daemon that follows a reachable source"};
  switch (judgement.state) {
    case clock::State::Synchronised:
      finding.verdict = Verdict::Pass;
      break;
    case clock::State::KernelOnly:
      // The kernel's own limit takes 8.9 hours to pass after a daemon died, so this proves nothing about now.
      finding.verdict = Verdict::Unknown;
      finding.message = "the kernel does not call itself unsynchronised, which proves nothing: after a daemon dies that takes hours";
      finding.remedy = "run chronyd on the node (apt-get install chrony); where another daemon keeps the time, let the policy make clock-sync a warning";
      break;
    case clock::State::LocalOnly:
      finding.verdict = Verdict::Fail;
      finding.remedy = "add a time server to /etc/chrony/chrony.conf, then: systemctl restart chrony";
      break;
    case clock::State::Lost:
    case clock::State::Unsynchronised:
      finding.verdict = Verdict::Fail;
      finding.remedy = daemon_absent ? "no time daemon answers on this node: apt-get install chrony, or systemctl start chrony"
                                     : "chronyc sources shows which time servers answer; check their addresses, UDP port 123 and routes";
      break;
    case clock::State::Unknown:
      finding.verdict = Verdict::Unknown;
      finding.seen.clear();  // nothing was seen, and the evidence says why
      finding.message = judgement.evidence;
      break;
  }
  return finding;
}

Finding judge_error(const clock::Judgement& judgement, const JudgeInput& input) {
  Finding finding{.check = "clock-error", .subject = "clock"};
  const auto wanted = input.spec.expectations.thresholds.clock_offset_max;
  if (judgement.bound) finding.seen = fmt::format("within {} (offset {})", milliseconds(*judgement.bound), milliseconds(judgement.offset.value_or(Microseconds(0))));
  if (!wanted) {
    finding.verdict = Verdict::Skipped;
    finding.message = judgement.bound ? "no maximum is declared" : "no maximum is declared, and no daemon gives a bound";
    return finding;
  }
  finding.wanted = fmt::format("<= {}", milliseconds(*wanted));
  if (!judgement.bound) {
    finding.message = fmt::format("no daemon gives a bound: {}", judgement.evidence);
    return finding;
  }
  finding.verdict = *judgement.bound <= *wanted ? Verdict::Pass : Verdict::Fail;
  if (finding.verdict == Verdict::Fail) finding.remedy = "use nearer time servers, or wait for chronyd to converge (chronyc tracking)";
  return finding;
}

}  // namespace

std::vector<Finding> judge_time(const JudgeInput& input) {
  const clock::Judgement judgement = judgement_of(input.observation.time);
  return {judge_sync(judgement, input.observation.time.daemon_absent), judge_error(judgement, input)};
}

}  // namespace verl::agent
