// A work queue for several threads, and the workers that empty it. Decisions are protocol/work_queue_state's.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/time.h"
#include "kube/protocol/work_queue_state.h"

namespace verl::kube {

class WorkQueue final {
 public:
  explicit WorkQueue(const Clock& clock, WorkQueueOptions options = {}) : clock_(clock), state_(options) {}

  bool add(const std::string& key);                           // false: full, dropped, counted
  bool add_after(const std::string& key, Microseconds delay);
  Microseconds add_failed(const std::string& key);            // returns the delay
  void forget(const std::string& key);

  // Waits for a key; nullopt when stopped. done() must follow for every key.
  std::optional<std::string> take(const std::stop_token& stop);
  void done(const std::string& key);
  void stop();  // every take() returns nullopt from now on; adds are refused

  struct Counts {
    std::size_t waiting{0};
    std::size_t delayed{0};
    std::size_t working{0};
    std::uint64_t dropped{0};
    bool operator==(const Counts&) const = default;
  };
  Counts counts() const;

 private:
  const Clock& clock_;
  mutable std::mutex mutex_{};
  std::condition_variable_any changed_{};
  WorkQueueState state_;
  bool stopped_{false};
};

struct WorkResult {
  enum class Kind { Done, Again, Failed };
  Kind kind{Kind::Done};
  Microseconds after{0};  // with Again
  static WorkResult done() { return {}; }
  static WorkResult again(Microseconds after) { return {.kind = Kind::Again, .after = after}; }
  static WorkResult failed() { return {.kind = Kind::Failed}; }
};

// `count` threads that call `work` for each key, never two at a time for one key. At least two, or one slow key would
// hold up all others. Stops and joins when destroyed; `work` is handed the stop token and must heed it.
class Workers final {
 public:
  using Work = std::function<WorkResult(const std::string& key, std::stop_token stop)>;
  Workers(WorkQueue& queue, std::size_t count, Work work);
  ~Workers();

 private:
  void loop(const std::stop_token& stop);

  WorkQueue& queue_;
  Work work_;
  std::vector<std::jthread> threads_{};
};

}  // namespace verl::kube
