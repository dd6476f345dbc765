// Turns the reflector's decisions into requests: paths, query and limits, nothing else.
#pragma once

#include <string>

#include "kube/protocol/http.h"
#include "kube/protocol/reflector_step.h"
#include "kube/protocol/resource.h"

namespace verl::kube {

struct WatchTarget {
  Resource resource{};
  std::string name_space{};      // empty: all of them
  std::string label_selector{};
  std::string field_selector{};
  bool operator==(const WatchTarget&) const = default;
};

Request to_request(const WatchTarget& target, const ListRequest& list, const ReflectorOptions& options);
Request to_request(const WatchTarget& target, const WatchRequest& watch, const ReflectorOptions& options);

}  // namespace verl::kube
