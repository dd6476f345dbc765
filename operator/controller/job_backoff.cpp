#include "operator/controller/job_backoff.h"

#include <algorithm>

namespace verl::controller {

Seconds pause_after(int failures) { return Seconds{1 << (std::clamp(failures, 1, 5) - 1)}; }

void JobBackoff::failed(const std::string& job_uid, kube::Instant now) {
  Wait& wait = waits_[job_uid];
  wait.failures = std::min(wait.failures + 1, 5);
  wait.until = now + pause_after(wait.failures);
}

kube::Instant::duration JobBackoff::left(const std::string& job_uid, kube::Instant now) const {
  const auto wait = waits_.find(job_uid);
  return wait == waits_.end() ? kube::Instant::duration::zero() : std::max(wait->second.until - now, kube::Instant::duration::zero());
}

}  // namespace verl::controller
