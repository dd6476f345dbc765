// Which key may be worked on next, as values: de-duplication, one worker a key, back-off a key and a common pace.
// Locks and threads are runtime/work_queue's. Rules as in client-go's util/workqueue.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "kube/protocol/backoff.h"

namespace verl::kube {

struct WorkQueueOptions {
  std::size_t capacity{100'000};                            // distinct keys waiting
  Microseconds failure_initial{std::chrono::milliseconds{5}};
  Microseconds failure_max{Seconds{1000}};
  double retries_per_second{10};                            // all keys together
  double retry_burst{100};
  bool operator==(const WorkQueueOptions&) const = default;
};

class WorkQueueState final {
 public:
  explicit WorkQueueState(WorkQueueOptions options = {}) : options_(options), tokens_(options.retry_burst) {}

  // False when the queue is full and the key is new: it was dropped and counted; whoever owns the queue must then go
  // over all keys again.
  bool add(const std::string& key);

  // Adds the key once `due` is reached; the earliest of several dues counts.
  bool add_at(const std::string& key, Instant due);

  // A failed key: after 5 ms * 2^failures, and no faster than the common pace. Returns the delay.
  Microseconds add_failed(const std::string& key, Instant now);
  void forget(const std::string& key) { failures_.erase(key); }  // it succeeded
  int failures(const std::string& key) const;

  // The next key to work on; done() must follow. Keys that are due are moved to the line first.
  std::optional<std::string> take(Instant now);
  void done(const std::string& key);

  std::optional<Instant> next_due() const;  // when take() may find more than it does now
  std::size_t waiting() const { return line_.size(); }
  std::size_t delayed() const { return due_of_.size(); }
  std::size_t working() const { return working_.size(); }
  std::uint64_t dropped() const { return dropped_; }

 private:
  void move_due(Instant now);
  bool has_room() const { return waiting_.size() + due_of_.size() < options_.capacity; }

  WorkQueueOptions options_;
  std::deque<std::string> line_{};
  std::set<std::string> waiting_{};  // in line, or to be put there when its worker is done
  std::set<std::string> working_{};
  std::map<std::string, Instant> due_of_{};
  std::set<std::pair<Instant, std::string>> dues_{};
  std::map<std::string, int> failures_{};
  double tokens_;
  std::optional<Instant> tokens_at_{};
  std::uint64_t dropped_{0};
};

}  // namespace verl::kube
