// What one node's time tools say about its clock: one statement a tool, and what follows from all of them together.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diagnosis/finding.h"
#include "diagnosis/time/clock.h"

namespace verl::clock {

// Who speaks, the one that knows best first. SystemFlag: timedatectl, which repeats the kernel's flag. Query: ntpdate and sntp,
// which measure the clock and do not say who keeps it. PtpClock: ptp4l, which keeps the card's clock, not the system's.
enum class Witness { Chronyd, Ntpd, Timesyncd, PtpSystem, PtpClock, Kernel, SystemFlag, Query, Journal };

struct Statement {
  Witness witness{Witness::Kernel};
  std::string tool{};                    // "chronyc tracking"
  State state{State::Unknown};
  bool starting{false};                  // Unsynchronised, but servers answer since a moment: ask again
  std::string why{};                     // what was seen, for people: "no system peer among 4 servers"
  std::optional<double> offset_s{};      // of the system clock; positive: ahead of its source, whatever the tool's sign
  std::optional<double> bound_s{};       // half the root delay + root dispersion + |offset|
  std::optional<double> max_error_s{};   // of the kernel: grows 500 us a second, proves no more than "disciplined within hours"
  std::string reference{};               // "198.51.100.7", "PPS(0)"
  std::optional<std::int32_t> stratum{};
  bool server_is_local{false};           // the server that is followed runs on its own clock
  std::optional<bool> flag{};            // kernel's or timedatectl's "synchronised"; alone it proves nothing
  std::optional<bool> rtc_local{};       // the hardware clock keeps local time
  bool leap_second{false};               // one is to be inserted or deleted today
  diagnosis::Evidence evidence{};
  bool operator==(const Statement&) const = default;
};

struct Facts {
  std::optional<double> offset_s{};      // of the system clock; positive: ahead of its source
  std::optional<double> error_bound_s{};  // half the root delay + root dispersion + |offset|
  std::string reference{};               // "198.51.100.7", "PPS(0)"; empty: none named
  std::optional<std::int32_t> stratum{};
  std::optional<bool> synchronised{};    // nothing: nobody said
  std::optional<bool> local_only{};      // follows its own clock
  std::optional<bool> server_is_local{};  // follows a server that follows its own clock
  std::vector<Statement> statements{};   // of every tool; the fields above are drawn from them where there are any
  bool operator==(const Facts&) const = default;
};

// Adds a statement and draws the fields anew.
void add(Facts& facts, Statement statement);

void merge(Facts& into, Facts more);

// The statement that decides whether the clock is disciplined: a daemon before the kernel, the kernel before a flag.
// nullptr when nobody says anything about it.
const Statement* decisive(const Facts& facts);

}  // namespace verl::clock
