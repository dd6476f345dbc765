// What the logs of one host say about the run, for the rules that compare hosts.
#pragma once

#include <string>
#include <vector>

namespace verl::log {

struct Facts {
  std::vector<std::string> networks{};  // last "Using network" of each process: "IB", "Socket"
  bool operator==(const Facts&) const = default;
};

void merge(Facts& into, Facts more);

}  // namespace verl::log
