// Which ports of a node do the same work: the ones a job would use as its rails, judged by the ports alone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diagnosis/fabric/facts.h"
#include "diagnosis/policy.h"

namespace verl::fabric {

// ACTIVE hardware ports of the layer that most of them have (InfiniBand when even), bonds left out.
std::vector<const Port*> siblings_of(const Facts& facts);

// The rate that most of them have, the higher when even; nothing when none says its rate.
std::optional<double> common_rate(const std::vector<const Port*>& ports);

bool is_active(const Port& port);
bool is_hardware(const Port& port);  // neither emulated nor the device of a bond

// May the job use this interface? By the policy's names, else by being the interface of a hardware RDMA port that is not down.
bool is_fabric_interface(const Interface& interface, const Facts& facts, const diagnosis::Policy& policy);
bool is_named(const Interface& interface, const diagnosis::Policy& policy);

// What the interface of a RoCE port allows when the tool did not say active_mtu itself.
struct ActiveMtu {
  std::int32_t bytes{0};
  bool derived{false};
};
std::optional<ActiveMtu> active_mtu(const Port& port, const Facts& facts);

}  // namespace verl::fabric
