// The VERL_RUN_ variables that the container check follows. What the operator sets is a table in docs/decisions/003-pod-commands.md.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "node-agent/incontainer/facts.h"

namespace verl::incontainer {

struct Settings {
  Wanted wanted{};
  std::string termination_log{"/dev/termination-log"};
  std::vector<std::string> faults{};  // a sentence each; with any of them nothing may be judged
  bool operator==(const Settings&) const = default;
};

Settings read_settings(const std::map<std::string, std::string>& environment);

}  // namespace verl::incontainer
