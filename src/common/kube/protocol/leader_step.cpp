#include "kube/protocol/leader_step.h"

#include <algorithm>
#include <utility>

namespace verl::kube {
namespace {

using Role = LeaderState::Role;

class Election final {
 public:
  Election(LeaderState state, const LeaderOptions& options, LeaderContext context)
      : state_(std::move(state)), options_(options), context_(context) {}

  LeaderStep operator()(const ElectionWoken&) {
    if (state_.role == Role::Follower) return next(GetLease{});
    state_.read_after_failure = false;
    return renew();
  }

  LeaderStep operator()(const LeaseRead& read) {
    observe(read.record);
    if (state_.role == Role::Leader) {
      if (read.record.holder != options_.identity) return lose(taken_text(read.record));
      return renew();
    }
    return may_take() ? take() : follow();
  }

  LeaderStep operator()(const LeaseSeen& seen) {
    const bool changed = observe(seen.record);
    if (may_take()) return take();
    // An event that is no sign of life must not put off the end of the wait.
    if (!changed) return follow();
    state_.watch_saw = true;
    return next(KeepWatching{});
  }

  LeaderStep operator()(const LeaseAbsent&) {
    if (state_.releasing) return end();
    if (state_.role == Role::Leader && past_deadline()) return lose("the lease is gone and could not be renewed for the renew deadline");
    LeaseRecord record = claim();
    record.document.clear();
    record.resource_version.clear();
    record.uid.clear();
    // The count never falls, even over a deleted lease: writes fenced by it would be refused for ever.
    if (!state_.observed) record.transitions = 0;
    record.acquire_time = record.renew_time;
    return send(CreateLease{.record = std::move(record)});
  }

  LeaderStep operator()(const LeaseWritten& written) {
    state_.conflicts = 0;
    state_.read_after_failure = false;
    if (state_.releasing) return end();
    observe(written.record);
    if (written.record.holder != options_.identity) {
      if (state_.role == Role::Leader) return lose(taken_text(written.record));
      return follow();
    }
    const bool begins = state_.role == Role::Follower;
    state_.renewed_at = state_.request_sent;
    if (past_deadline()) {
      if (begins) return pause(retry());  // ours, but too late to act on it: read and renew first
      return lose("the answer to the last renewal took longer than the renew deadline");
    }
    state_.role = Role::Leader;
    auto out = pause(options_.retry_period);
    out.started = begins;
    return out;
  }

  LeaderStep operator()(const LeaseConflict&) {
    if (state_.releasing) return end();
    if (++state_.conflicts > 3) {
      state_.conflicts = 0;
      return pause(retry());
    }
    return next(GetLease{});
  }

  LeaderStep operator()(const LeaseCallFailed& failed) {
    if (state_.releasing) return end();
    if (state_.role == Role::Leader) {
      if (past_deadline()) return lose("the lease could not be renewed for the renew deadline: " + failed.message);
      if (!std::exchange(state_.read_after_failure, true)) return next(GetLease{});
    }
    return pause(retry());
  }

  LeaderStep operator()(const LeaseWatchOver& over) {
    if (may_take()) return take();
    const bool too_short = !state_.watch_saw && context_.now - state_.watch_sent < Seconds{1};
    if (over.failed || too_short) return pause(retry());
    return follow();
  }

  LeaderStep operator()(const StopElection&) {
    if (state_.role != Role::Leader || past_deadline()) return end();
    LeaseRecord record = *state_.observed;
    record.holder.clear();
    record.duration_seconds = 1;
    record.renew_time = record.acquire_time = format_rfc3339(context_.wall, true);
    state_.releasing = true;
    return send(UpdateLease{.record = std::move(record)});
  }

 private:
  LeaderStep next(LeaderNext what) {
    return {.state = state_, .next = std::move(what), .new_holder = std::exchange(new_holder_, std::nullopt)};
  }

  LeaderStep send(LeaderNext write) {
    state_.request_sent = context_.now;
    return next(std::move(write));
  }

  LeaderStep pause(Microseconds delay) { return next(PauseElection{.delay = delay}); }

  LeaderStep end() {
    state_.role = Role::Ended;
    return next(EndElection{});
  }

  LeaderStep lose(std::string why) {
    auto out = end();
    out.lost = std::move(why);
    return out;
  }

  LeaderStep renew() {
    if (past_deadline()) return lose("the lease could not be renewed for the renew deadline");
    return send(UpdateLease{.record = claim()});
  }

  LeaderStep take() { return send(UpdateLease{.record = claim()}); }

  LeaderStep follow() {
    if (!options_.watch) return pause(std::min(retry(), std::max(until_expiry(), Microseconds{0}) + retry() / 10));
    state_.watch_sent = context_.now;
    state_.watch_saw = false;
    return next(WatchLease{.resource_version = state_.observed->resource_version, .silence = until_expiry()});
  }

  bool past_deadline() const { return context_.now >= leads_until(state_, options_); }

  // A holder is gone when its claim stood still for its own duration, by our clock.
  Microseconds until_expiry() const {
    const int seconds = state_.observed->duration_seconds;
    const Seconds duration = seconds > 0 ? Seconds{seconds} : options_.lease_duration;
    return std::chrono::duration_cast<Microseconds>(state_.observed_at + duration - context_.now);
  }
  bool may_take() const {
    return state_.observed->holder.empty() || state_.observed->holder == options_.identity || until_expiry() <= Microseconds{0};
  }

  // Returns whether the claim changed. The version is always taken over: the next update needs it.
  bool observe(const LeaseRecord& record) {
    const bool changed = !state_.observed || !same_claim(*state_.observed, record);
    if (!state_.observed || state_.observed->holder != record.holder) new_holder_ = record.holder;
    state_.observed = record;
    if (changed) state_.observed_at = context_.now;
    return changed;
  }

  LeaseRecord claim() const {
    LeaseRecord record = state_.observed.value_or(LeaseRecord{});
    const bool changes_holder = record.holder != options_.identity;
    record.renew_time = format_rfc3339(context_.wall, true);
    if (changes_holder) {
      record.acquire_time = record.renew_time;
      ++record.transitions;
    }
    record.holder = options_.identity;
    record.duration_seconds = static_cast<int>(options_.lease_duration.count());
    return record;
  }

  // Period and jitter as in client-go: 1 to 2.2 periods for followers, one period for the leader.
  Microseconds retry() const {
    const Microseconds period = options_.retry_period;
    if (state_.role == Role::Leader) return period;
    return period + Microseconds{static_cast<Microseconds::rep>(1.2 * context_.random * static_cast<double>(period.count()))};
  }

  static std::string taken_text(const LeaseRecord& record) {
    return record.holder.empty() ? "somebody cleared the lease" : "the lease was taken by " + record.holder;
  }

  LeaderState state_;
  const LeaderOptions& options_;
  LeaderContext context_;
  std::optional<std::string> new_holder_{};
};

}  // namespace

std::string options_problem(const LeaderOptions& options) {
  if (options.name.empty() || options.name_space.empty()) return "leader election needs the lease's namespace and name";
  if (options.identity.empty()) return "leader election needs an identity";
  if (options.retry_period < Seconds{1}) return "the retry period must be at least one second";
  if (options.lease_duration <= options.renew_deadline) return "the lease duration must be longer than the renew deadline";
  if (options.renew_deadline * 5 <= options.retry_period * 6) return "the renew deadline must be longer than 1.2 retry periods";
  return {};
}

Instant leads_until(const LeaderState& state, const LeaderOptions& options) { return state.renewed_at + options.renew_deadline; }

LeaderStep begin_election(const LeaderOptions&, LeaderContext) { return {.next = GetLease{}}; }

LeaderStep step(LeaderState state, const LeaderInput& input, const LeaderOptions& options, LeaderContext context) {
  Election election(std::move(state), options, context);
  return std::visit([&](const auto& happened) { return election(happened); }, input);
}

}  // namespace verl::kube
