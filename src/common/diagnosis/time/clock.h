// Is this clock disciplined, by whom, and within which bound: from what the daemon and the kernel say.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "diagnosis/time/chrony.h"

namespace verl::clock {

// adjtimex, in our own words.
struct Kernel {
  int state{5};
  std::int64_t status{0};
  Microseconds max_error{0};
  bool operator==(const Kernel&) const = default;
};

struct Daemon {
  chrony::Tracking tracking{};
  std::vector<chrony::Source> sources{};
  bool operator==(const Daemon&) const = default;
};

enum class State {
  Synchronised,  // by a daemon that hears a source
  KernelOnly,    // the kernel's error is bounded, but nobody says by whom: proves no more than "not unsynchronised"
  LocalOnly,     // the daemon follows its own clock
  Lost,          // was synchronised; the sources have gone silent
  Unsynchronised,
  Unknown,
};

struct Judgement {
  State state{State::Unknown};
  std::string evidence{};                 // what was seen, for people
  std::string reference{};                // the source
  std::optional<Microseconds> offset{};   // of the system clock, daemon's view; positive: ahead of the source
  std::optional<Microseconds> bound{};    // root delay / 2 + root dispersion + |offset|; only when Synchronised
  bool operator==(const Judgement&) const = default;
};

// Synchronised needs all of: leap status not "unsynchronised", a reference that is not the own clock, at least one source
// with reach != 0, and a last update younger than eight polls. A server that died leaves the first two and a tiny
// dispersion behind for long. `now` is the judged machine's own clock, as the reference time is.
Judgement judge_daemon(const Daemon& daemon, Timestamp now);

// Without a daemon that answers. The kernel adds 500 us a second to its maximum error and gives up at 16 s; the flag
// alone proves nothing, for chronyd without `rtcsync` leaves it set on a healthy machine.
Judgement judge_kernel(const Kernel& kernel);

}  // namespace verl::clock
