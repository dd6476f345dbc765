// Runs leader election on the calling thread, with a watchdog beside it: whatever a call does, leadership is reported lost
// by the renew deadline. Once lost it is not sought again: the process stops its writers and exits.
// Decisions are protocol/leader_step's.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/time.h"
#include "kube/protocol/http.h"
#include "kube/protocol/leader_step.h"

namespace verl::kube {

struct LeaderTerm {
  Instant acquired_at{};  // caches listed through the quorum after this see all that earlier leaders wrote
  int transitions{0};     // fencing number: grows with every change of holder
  bool operator==(const LeaderTerm&) const = default;
};

class LeaderElector final {
 public:
  // Called without a lock held, on_started and on_new_holder on run()'s thread, on_lost on that or the watchdog's, once.
  struct Hooks {
    std::function<void(const LeaderTerm&)> on_started{};
    std::function<void(std::string_view reason)> on_lost{};  // stop all writers and exit non-zero
    std::function<void(std::string_view holder)> on_new_holder{};
    std::function<void(std::string_view line)> log{};
  };

  // The options must have no options_problem(); else this is a broken invariant.
  LeaderElector(Api& api, const Clock& clock, LeaderOptions options, Hooks hooks);

  // Until leadership is lost (false) or stop (true). On stop a held lease is given back within a second, so stop all
  // writers first.
  bool run(std::stop_token stop);

  // Asked before every write. False from the renew deadline on, even when this process was frozen meanwhile.
  bool is_leading() const;
  std::optional<LeaderTerm> term() const;  // while leading

 private:
  class Sink;

  std::optional<LeaderInput> perform(const LeaderNext& next, const std::stop_token& stop);
  LeaderInput call(const Request& request, bool write, const std::stop_token& stop);
  std::optional<LeaderInput> watch(const WatchLease& watch, const std::stop_token& stop);
  void advance(const LeaderInput& input);
  void watchdog(const std::stop_token& over);
  void lose(std::string_view reason);
  void release();
  Request request(Method method, std::string body) const;
  LeaderContext context() const;

  Api& api_;
  const Clock& clock_;
  const LeaderOptions options_;
  const Hooks hooks_;

  LeaderState state_{};     // only run()'s thread
  LeaderNext next_{GetLease{}};
  std::string last_trouble_{};

  mutable std::mutex mutex_{};
  std::condition_variable_any changed_{};
  bool leading_{false};
  bool lost_{false};
  Instant leads_until_{};
  LeaderTerm term_{};
  std::stop_source cancel_{};  // of the call under way
};

}  // namespace verl::kube
