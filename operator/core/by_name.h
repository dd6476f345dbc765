// Finds one object of a snapshot's list by name. The lists are sorted, so no index is built; most rounds ask for few names.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "operator/core/model.h"

namespace verl::core {

// Null when it is not there. For cluster-scoped kinds only: `sorted` is in the order of names.
template <class T>
const T* find_by_name(const std::vector<Shared<T>>& sorted, std::string_view name) {
  const auto at = std::lower_bound(sorted.begin(), sorted.end(), name, [](const Shared<T>& one, std::string_view wanted) { return one->meta.name < wanted; });
  return at != sorted.end() && (*at)->meta.name == name ? at->get() : nullptr;
}

}  // namespace verl::core
