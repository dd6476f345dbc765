// chronyd's own command protocol, version 6 (chrony's candm.h, in use since 1.30): requests as bytes, replies as values.
// Sends nothing itself and judges nothing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/time.h"

namespace verl::chrony {

enum class Leap : std::uint16_t { Normal = 0, InsertSecond = 1, DeleteSecond = 2, Unsynchronised = 3 };

struct Tracking {
  std::uint32_t reference_id{0};
  std::string reference{};  // address of the source, or the id's own text ("GPS"); empty when there is neither
  std::uint16_t stratum{0};
  Leap leap{Leap::Unsynchronised};
  Timestamp reference_time{};      // of the last update
  double current_correction{0};    // seconds; positive: the clock is slow, chronyc says "slow of NTP time"
  double last_offset{0};           // seconds
  double rms_offset{0};            // seconds
  double frequency_ppm{0};
  double residual_ppm{0};
  double skew_ppm{0};
  double root_delay{0};            // seconds
  double root_dispersion{0};       // seconds
  double update_interval{0};       // seconds
  bool operator==(const Tracking&) const = default;
};

enum class SourceState : std::uint16_t { Selected, NonSelectable, FalseTicker, Jittery, Unselected, Selectable };
enum class SourceMode : std::uint16_t { Client, Peer, ReferenceClock };

struct Source {
  std::string address{};
  std::int16_t poll{0};  // log2 of the seconds between two polls
  std::uint16_t stratum{0};
  SourceState state{SourceState::NonSelectable};
  SourceMode mode{SourceMode::Client};
  std::uint16_t reach{0};  // one bit a poll, the last eight
  std::uint32_t since_sample{0};
  bool operator==(const Source&) const = default;
};

constexpr std::uint32_t kLocalReference = 0x7F7F0101;  // chronyd following its own clock

// Requests are as long as the longest reply: chronyd does not answer shorter ones.
std::string tracking_request(std::uint32_t sequence);
std::string source_count_request(std::uint32_t sequence);
std::string source_request(std::uint32_t sequence, std::int32_t index);

// Denied: chronyd refused. Invalid: not an answer to that request, or not one we understand.
Result<Tracking> parse_tracking(std::string_view reply, std::uint32_t sequence);
Result<std::uint32_t> parse_source_count(std::string_view reply, std::uint32_t sequence);
Result<Source> parse_source(std::string_view reply, std::uint32_t sequence);

// chronyd's 32-bit floats: 7 bits of exponent, 25 of coefficient, both signed; value = coefficient * 2^(exponent - 25).
double decode_float(std::uint32_t bits);

}  // namespace verl::chrony
