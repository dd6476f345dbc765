#include "kube/protocol/backoff.h"

#include <algorithm>

namespace verl::kube {
namespace {

Microseconds scaled(Microseconds by, double factor) {
  return std::chrono::duration_cast<Microseconds>(std::chrono::duration<double, std::micro>(static_cast<double>(by.count()) * factor));
}

}  // namespace

BackoffDelay next_delay(const BackoffPolicy& policy, const Backoff& state, Instant now, double random) {
  const bool fresh = state.step.count() == 0 || !state.waited_until || now - *state.waited_until > policy.reset_after;
  const Microseconds step = fresh ? policy.initial : std::min(policy.max, scaled(state.step, policy.factor));
  const Microseconds delay = step + scaled(step, policy.jitter * random);
  return {.state = {.step = step, .waited_until = now + delay}, .delay = delay};
}

}  // namespace verl::kube
