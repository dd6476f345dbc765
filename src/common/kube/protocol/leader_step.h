// Leader election over a Lease as a pure function: what was read or written, and when, decides what to do next.
// Like client-go's tools/leaderelection it does not promise a single actor by itself: every write of a leader carries
// preconditions as well. Whether a holder is alive is judged only by local time since its claim last changed.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "kube/protocol/backoff.h"
#include "kube/protocol/lease_record.h"

namespace verl::kube {

struct LeaderOptions {
  std::string name_space{};
  std::string name{};
  std::string identity{};        // unique for each start of a process
  Seconds lease_duration{15};    // how long others wait after our last sign of life
  Seconds renew_deadline{10};    // how long we stay leader without a renewal
  Seconds retry_period{2};
  bool watch{true};              // followers watch the lease; otherwise they poll
  bool operator==(const LeaderOptions&) const = default;
};

// What is wrong with the options; empty when nothing is.
std::string options_problem(const LeaderOptions& options);

// ---- what to do next
struct GetLease { bool operator==(const GetLease&) const = default; };
struct CreateLease { LeaseRecord record{}; bool operator==(const CreateLease&) const = default; };
struct UpdateLease { LeaseRecord record{}; bool operator==(const UpdateLease&) const = default; };
struct WatchLease {              // from this version; give up when it stays silent for this long
  std::string resource_version{};
  Microseconds silence{0};
  bool operator==(const WatchLease&) const = default;
};
struct KeepWatching { bool operator==(const KeepWatching&) const = default; };
struct PauseElection { Microseconds delay{0}; bool operator==(const PauseElection&) const = default; };
struct EndElection { bool operator==(const EndElection&) const = default; };
using LeaderNext = std::variant<GetLease, CreateLease, UpdateLease, WatchLease, KeepWatching, PauseElection, EndElection>;

// ---- what happened
struct LeaseRead { LeaseRecord record{}; };     // by GET
struct LeaseSeen { LeaseRecord record{}; };     // by the watch
struct LeaseAbsent {};                          // GET or update said 404, or the watch saw it deleted
struct LeaseWritten { LeaseRecord record{}; };
struct LeaseConflict {};                        // 409
struct LeaseCallFailed { std::string message{}; };
struct LeaseWatchOver { bool failed{false}; };  // silent, closed or (failed) broken or refused
struct ElectionWoken {};                        // the pause is over
struct StopElection {};                         // writers have stopped: give the lease back
using LeaderInput = std::variant<LeaseRead, LeaseSeen, LeaseAbsent, LeaseWritten, LeaseConflict, LeaseCallFailed, LeaseWatchOver, ElectionWoken, StopElection>;

struct LeaderState {
  enum class Role { Follower, Leader, Ended };
  Role role{Role::Follower};
  std::optional<LeaseRecord> observed{};
  Instant observed_at{};        // when the claim last changed, by our clock
  Instant request_sent{};
  Instant renewed_at{};         // when the last renewal that succeeded was sent
  Instant watch_sent{};
  bool watch_saw{false};
  int conflicts{0};             // in a row
  bool read_after_failure{false};
  bool releasing{false};
  bool operator==(const LeaderState&) const = default;
};

struct LeaderStep {
  LeaderState state{};
  LeaderNext next{GetLease{}};
  bool started{false};              // leading from now on
  std::string lost{};               // why leading is over; empty otherwise
  std::optional<std::string> new_holder{};
};

struct LeaderContext {
  Instant now{};
  Timestamp wall{};   // written into the lease for people
  double random{0};   // in [0, 1)
};

LeaderStep begin_election(const LeaderOptions& options, LeaderContext context);
LeaderStep step(LeaderState state, const LeaderInput& input, const LeaderOptions& options, LeaderContext context);

// Until when the leader may act without another renewal. It counts from the sending of the last one, so it ends before
// any follower that saw that renewal can consider it expired.
Instant leads_until(const LeaderState& state, const LeaderOptions& options);

}  // namespace verl::kube
