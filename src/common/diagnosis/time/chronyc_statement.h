// From what chronyc printed to a statement, by the rules the agent applies to chronyd's own answers (clock.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diagnosis/reading.h"
#include "diagnosis/time/chrony.h"
#include "diagnosis/time/facts.h"

namespace verl::diagnosis {

struct ChronycText {
  std::optional<chrony::Tracking> tracking{};
  bool leap_read{false};
  bool offset_read{false};
  bool distance_read{false};               // root delay and root dispersion
  bool sources_shown{false};
  std::vector<chrony::Source> sources{};
  std::vector<std::string> source_names{};  // as printed, same order
  std::vector<double> source_offsets{};     // adjusted offset, s; positive: ahead of the source
  Evidence evidence{};
  std::string refusal{};                    // "506 Cannot talk to daemon"
};

// "C000020A" as an address where it is one: four letters of a reference clock, or dotted. Given what stands beside it,
// for the id of an IPv6 server is a hash of its address.
std::string reference_of(std::uint32_t id, std::string_view name, std::uint16_t stratum);

// Puts the statement, and findings about what is missing or ticks falsely, into the reading.
void conclude(Reading& reading, const ChronycText& text);

}  // namespace verl::diagnosis
