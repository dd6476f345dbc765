#include "kube/protocol/work_queue_state.h"

#include <algorithm>
#include <cmath>

namespace verl::kube {

bool WorkQueueState::add(const std::string& key) {
  if (waiting_.contains(key)) return true;
  if (!due_of_.contains(key) && !has_room()) {
    ++dropped_;
    return false;
  }
  waiting_.insert(key);
  if (!working_.contains(key)) line_.push_back(key);
  return true;
}

bool WorkQueueState::add_at(const std::string& key, Instant due) {
  const auto found = due_of_.find(key);
  if (found != due_of_.end()) {
    if (found->second <= due) return true;
    dues_.erase({found->second, key});
  } else if (!waiting_.contains(key) && !has_room()) {
    ++dropped_;
    return false;
  }
  due_of_[key] = due;
  dues_.emplace(due, key);
  return true;
}

Microseconds WorkQueueState::add_failed(const std::string& key, Instant now) {
  const int before = failures_[key]++;
  const double grown = static_cast<double>(options_.failure_initial.count()) * std::pow(2.0, std::min(before, 40));
  const auto own = std::min(options_.failure_max, Microseconds{static_cast<Microseconds::rep>(std::min(grown, 1e15))});

  // One token a retry; the bucket may go below zero, and its debt is the delay.
  if (tokens_at_) {
    const double seconds = std::chrono::duration<double>(now - *tokens_at_).count();
    tokens_ = std::min(options_.retry_burst, tokens_ + seconds * options_.retries_per_second);
  }
  tokens_at_ = now;
  tokens_ -= 1;
  const double debt = std::max(0.0, -tokens_ / options_.retries_per_second);
  const auto common = Microseconds{static_cast<Microseconds::rep>(std::ceil(debt * 1e6))};

  const auto delay = std::max(own, common);
  add_at(key, now + delay);
  return delay;
}

int WorkQueueState::failures(const std::string& key) const {
  const auto found = failures_.find(key);
  return found == failures_.end() ? 0 : found->second;
}

void WorkQueueState::move_due(Instant now) {
  while (!dues_.empty() && dues_.begin()->first <= now) {
    const std::string key = dues_.begin()->second;
    dues_.erase(dues_.begin());
    due_of_.erase(key);
    add(key);
  }
}

std::optional<std::string> WorkQueueState::take(Instant now) {
  move_due(now);
  if (line_.empty()) return std::nullopt;
  std::string key = std::move(line_.front());
  line_.pop_front();
  waiting_.erase(key);
  working_.insert(key);
  return key;
}

void WorkQueueState::done(const std::string& key) {
  if (working_.erase(key) > 0 && waiting_.contains(key)) line_.push_back(key);
}

std::optional<Instant> WorkQueueState::next_due() const {
  if (dues_.empty()) return std::nullopt;
  return dues_.begin()->first;
}

}  // namespace verl::kube
