// Points in time, RFC 3339 text, and the Clock that everything above main is given.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace verl {

using Microseconds = std::chrono::microseconds;
using Seconds = std::chrono::seconds;
using Timestamp = std::chrono::sys_time<Microseconds>;

// "2026-11-30T17:07:09Z"; with a fraction of six digits when `t` has one and `fraction` is asked for (MicroTime).
std::string format_rfc3339(Timestamp t, bool fraction = false);

// Accepts a fraction of 1 to 9 digits (cut to microseconds) and any numeric offset; nullopt for anything else,
// leap seconds and years outside 1970..9999 included.
std::optional<Timestamp> parse_rfc3339(std::string_view text);

// "Mon, 30 Nov 2026 17:07:09 GMT", the HTTP Date header in its only current form (RFC 9110 §5.6.7).
std::optional<Timestamp> parse_http_date(std::string_view text);

// "3d", "5h", "12m", "40s": the largest unit that is not zero, as kubectl prints ages. Negative is "0s".
std::string format_age(Seconds age);

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Timestamp now() const = 0;                              // wall clock
  virtual std::chrono::steady_clock::time_point steady() const = 0;  // for deadlines and ages
};

class SystemClock final : public Clock {
 public:
  Timestamp now() const override;
  std::chrono::steady_clock::time_point steady() const override;
};

// A clock that stands until it is moved. Not synchronised: for tests of one thread.
class FakeClock final : public Clock {
 public:
  explicit FakeClock(Timestamp start) : now_(start) {}
  Timestamp now() const override { return now_; }
  std::chrono::steady_clock::time_point steady() const override { return steady_; }
  void advance(Microseconds by) {
    now_ += by;
    steady_ += by;
  }

 private:
  Timestamp now_;
  std::chrono::steady_clock::time_point steady_{};
};

}  // namespace verl
