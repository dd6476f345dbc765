#include "kube/runtime/work_queue.h"

#include <algorithm>

namespace verl::kube {

bool WorkQueue::add(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const bool added = !stopped_ && state_.add(key);
  changed_.notify_one();
  return added;
}

bool WorkQueue::add_after(const std::string& key, Microseconds delay) {
  if (delay <= Microseconds{0}) return add(key);
  const std::lock_guard lock(mutex_);
  const bool added = !stopped_ && state_.add_at(key, clock_.steady() + delay);
  changed_.notify_one();
  return added;
}

Microseconds WorkQueue::add_failed(const std::string& key) {
  const std::lock_guard lock(mutex_);
  if (stopped_) return Microseconds{0};
  const auto delay = state_.add_failed(key, clock_.steady());
  changed_.notify_one();
  return delay;
}

void WorkQueue::forget(const std::string& key) {
  const std::lock_guard lock(mutex_);
  state_.forget(key);
}

std::optional<std::string> WorkQueue::take(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stopped_ && !stop.stop_requested()) {
    const Instant now = clock_.steady();
    if (auto key = state_.take(now)) {
      if (state_.waiting() > 0) changed_.notify_one();  // several keys may have come due together
      return key;
    }
    // A delayed key added meanwhile may be due earlier than the one waited for; an hour only bounds the wait.
    const auto due = state_.next_due();
    const auto longest = due ? std::min<std::chrono::nanoseconds>(*due - now, std::chrono::hours{1}) : std::chrono::hours{1};
    changed_.wait_for(lock, stop, longest, [&] { return stopped_ || state_.waiting() > 0 || state_.next_due() != due; });
  }
  return std::nullopt;
}

void WorkQueue::done(const std::string& key) {
  const std::lock_guard lock(mutex_);
  state_.done(key);
  changed_.notify_one();
}

void WorkQueue::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  changed_.notify_all();
}

WorkQueue::Counts WorkQueue::counts() const {
  const std::lock_guard lock(mutex_);
  return {.waiting = state_.waiting(), .delayed = state_.delayed(), .working = state_.working(), .dropped = state_.dropped()};
}

Workers::Workers(WorkQueue& queue, std::size_t count, Work work) : queue_(queue), work_(std::move(work)) {
  for (std::size_t i = 0; i < std::max<std::size_t>(2, count); ++i) {
    threads_.emplace_back([this](const std::stop_token& stop) { loop(stop); });
  }
}

Workers::~Workers() {
  for (auto& thread : threads_) thread.request_stop();
}

void Workers::loop(const std::stop_token& stop) {
  while (const auto key = queue_.take(stop)) {
    const WorkResult result = work_(*key, stop);
    switch (result.kind) {
      case WorkResult::Kind::Done:
        queue_.forget(*key);
        break;
      case WorkResult::Kind::Again:
        queue_.forget(*key);
        queue_.add_after(*key, result.after);
        break;
      case WorkResult::Kind::Failed:
        queue_.add_failed(*key);
        break;
    }
    queue_.done(*key);
  }
}

}  // namespace verl::kube
