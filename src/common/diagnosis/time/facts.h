// What one node's time tools say about its clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace verl::clock {

struct Facts {
  std::optional<double> offset_s{};      // of the system clock; positive: ahead of its source
  std::optional<double> error_bound_s{};  // half the root delay + root dispersion + |offset|
  std::string reference{};               // "198.51.100.7", "PPS(0)"; empty: none named
  std::optional<std::int32_t> stratum{};
  std::optional<bool> synchronised{};    // nothing: nobody said
  std::optional<bool> local_only{};      // follows its own clock
  bool operator==(const Facts&) const = default;
};

void merge(Facts& into, Facts more);

}  // namespace verl::clock
