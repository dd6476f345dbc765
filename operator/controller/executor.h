// Does what a plan says: each action is one API call that is safe to repeat. A conflict or a lost answer ends the job's
// round; the next snapshot decides anew. Decides nothing itself.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "kube/protocol/http.h"
#include "kube/runtime/event_recorder.h"
#include "operator/controller/caches.h"
#include "operator/controller/token.h"
#include "operator/core/reconcile.h"

namespace verl::controller {

struct Written {
  int writes{0};      // that the apiserver accepted
  bool failed{false};  // something is left to do: look again soon
  bool unavailable{false};  // the apiserver gave no answer, or none that it stands by: nobody else has better luck now
};

class Executor final {
 public:
  struct Parts {
    kube::Api& api;
    Caches& caches;
    kube::EventRecorder& events;
    const TokenKey& key;
    std::function<bool()> may_write{};  // asked before every write: are we still the leader
    std::function<void(std::string_view line)> log{};
    std::string name_space{};           // the operator's own
    int parallel_creates{16};
  };
  explicit Executor(Parts parts) : parts_(std::move(parts)) {}

  Written run(const core::Plan& plan, const api::VerlJob& job, std::stop_token stop);
  Written run(const std::vector<core::ReportAction>& actions, const core::ClusterSnapshot& snapshot, std::stop_token stop);

  // Answers of dry runs so far, for the next snapshot; those of jobs that are gone are dropped.
  std::map<std::string, std::vector<core::DryRun>, std::less<>> dry_runs(const core::ClusterSnapshot& snapshot);
  // Placements sent for jobs that the snapshot holds; of the others the cache shows what became of them, and they are dropped.
  std::map<std::string, api::Placement, std::less<>> unseen(const core::ClusterSnapshot& snapshot);
  void set_now(Timestamp now) { now_ = now; }

 private:
  class Writer;

  Parts parts_;
  Timestamp now_{};
  std::map<std::string, std::vector<core::DryRun>, std::less<>> dry_runs_{};
  std::map<std::string, api::Placement, std::less<>> unseen_{};
};

}  // namespace verl::controller
