// Addresses of a host name, with a limit: the system's resolver has none that can be relied on and cannot be interrupted.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"

namespace verl::kube {

// Numeric addresses in the resolver's order. An address literal is returned as it is, at once. When the limit passes or a
// stop is asked for, the look-up is left behind on its own thread and its result dropped.
Result<std::vector<std::string>> resolve(const std::string& host, std::chrono::milliseconds limit, std::stop_token stop);

bool is_address_literal(const std::string& host);

}  // namespace verl::kube
