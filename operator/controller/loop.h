// The operator's one loop: when something changed or a time has come, take a snapshot, plan for all jobs, do it.
// One thread decides, so that what is decided is decided for all jobs together.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "operator/controller/caches.h"
#include "operator/controller/executor.h"
#include "operator/controller/job_backoff.h"
#include "operator/controller/server_time.h"
#include "telemetry/metrics.h"

namespace verl::controller {

class Loop final {
 public:
  struct Parts {
    Caches& caches;
    Executor& executor;
    ServerTime& time;
    const Clock& clock;
    telemetry::Metrics& metrics;
    core::Config config{};
    std::function<bool()> may_write{};
    std::function<void(std::string_view line)> log{};
    std::function<void()> on_filled{};  // once, when every cache holds what there is
  };
  explicit Loop(Parts parts) : parts_(std::move(parts)) {}

  void wake();  // something may have changed; cheap, from any thread

  // Until stopped. Plans nothing before every cache is newer than `acquired`, the moment leadership began.
  void run(kube::Instant acquired, std::stop_token stop);

 private:
  bool wait_until_fresh(kube::Instant acquired, const std::stop_token& stop);
  void round(const std::stop_token& stop);
  void wait(const std::stop_token& stop);
  bool must_wait(const std::string& job_uid, kube::Instant now);
  void remember(const std::string& job_uid, const Written& written);
  void tell(const core::Plan& plan) const;
  void measure(const core::ClusterSnapshot& snapshot, const core::Round& round);

  Parts parts_;
  std::mutex mutex_{};
  std::condition_variable_any changed_{};
  bool dirty_{true};
  Seconds next_look_{30};
  int failures_{0};  // rounds in a row in which the apiserver did not answer
  JobBackoff backoff_{};
  kube::Instant reports_again_{};  // when reports may be written after one was refused
};

}  // namespace verl::controller
