#include "diagnosis/time/clock.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace verl::clock {
namespace {

constexpr Microseconds kKernelGivesUp{16'000'000};
constexpr int kMaxAgeInPolls = 8;
constexpr int kLargestPoll = 24;  // chronyd's own limit

Microseconds microseconds(double seconds) {
  // Beyond a century it is no offset any more; the clamp keeps the conversion defined.
  const double clamped = std::clamp(seconds, -3.2e9, 3.2e9);
  return Microseconds(std::llround(clamped * 1e6));
}

// The poll of the source that is followed; of several silent ones, the slowest.
int poll_exponent(const std::vector<chrony::Source>& sources) {
  int slowest = 0;
  for (const chrony::Source& source : sources) {
    if (source.state == chrony::SourceState::Selected) return std::clamp<int>(source.poll, 0, kLargestPoll);
    slowest = std::max<int>(slowest, source.poll);
  }
  return std::min(slowest, kLargestPoll);
}

}  // namespace

Judgement judge_daemon(const Daemon& daemon, Timestamp now) {
  const chrony::Tracking& tracking = daemon.tracking;
  Judgement out;
  out.reference = tracking.reference;
  if (tracking.leap == chrony::Leap::Unsynchronised || tracking.reference_id == 0) {
    out.state = State::Unsynchronised;
    out.evidence = daemon.sources.empty() ? "chronyd: not synchronised, no source configured"
                                          : fmt::format("chronyd: not synchronised, {} sources", daemon.sources.size());
    return out;
  }
  if (tracking.reference_id == chrony::kLocalReference) {
    out.state = State::LocalOnly;
    out.evidence = "chronyd: follows only its own clock (reference 7F7F0101)";
    return out;
  }
  if (!std::isfinite(tracking.root_delay) || tracking.root_delay < 0 || tracking.root_dispersion < 0) {
    out.evidence = "chronyd: reports a negative delay or dispersion";
    return out;
  }
  out.offset = microseconds(-tracking.current_correction);
  const bool reachable =
      std::any_of(daemon.sources.begin(), daemon.sources.end(), [](const chrony::Source& source) { return source.reach != 0; });
  if (!reachable) {
    out.state = State::Lost;
    out.evidence = fmt::format("chronyd: no answer from {} of {} sources in the last 8 polls", daemon.sources.size(), daemon.sources.size());
    return out;
  }
  const Seconds allowed = Seconds(std::int64_t{1} << poll_exponent(daemon.sources)) * kMaxAgeInPolls;
  const auto age = std::chrono::duration_cast<Seconds>(now - tracking.reference_time);
  if (age > allowed) {
    out.state = State::Lost;
    out.evidence = fmt::format("chronyd: last update {} s ago, wanted within {} s (8 polls)", age.count(), allowed.count());
    return out;
  }
  if (age < -allowed) {
    out.evidence = fmt::format("chronyd: last update lies {} s in the future of this clock", -age.count());
    return out;
  }
  out.state = State::Synchronised;
  out.bound = microseconds(std::abs(tracking.current_correction) + tracking.root_dispersion + tracking.root_delay / 2);
  out.evidence = fmt::format("chronyd: synchronised to {} (stratum {})", tracking.reference.empty() ? "a source" : tracking.reference, tracking.stratum);
  return out;
}

Judgement judge_kernel(const Kernel& kernel) {
  Judgement out;
  if (kernel.max_error < Microseconds(0)) {
    out.evidence = "the kernel reports a negative maximum error";
  } else if (kernel.max_error >= kKernelGivesUp) {
    out.state = State::Unsynchronised;
    out.evidence = "the kernel's clock is unsynchronised: maximum error 16 s or more";
  } else {
    out.state = State::KernelOnly;
    out.evidence = fmt::format("no daemon to ask; the kernel's maximum error is {:.3f} s", static_cast<double>(kernel.max_error.count()) / 1e6);
  }
  return out;
}

}  // namespace verl::clock
