// Finds one object of a snapshot's list by name, without an index: most rounds ask for few names of many.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "operator/core/model.h"

namespace verl::core {

// Null when it is not there. For cluster-scoped kinds only. Lists are sorted as a rule; one that is not costs time and decides nothing.
template <class T>
const T* find_by_name(const std::vector<Shared<T>>& list, std::string_view name) {
  const auto at = std::lower_bound(list.begin(), list.end(), name, [](const Shared<T>& one, std::string_view wanted) { return one->meta.name < wanted; });
  if (at != list.end() && (*at)->meta.name == name) return at->get();
  const auto found = std::find_if(list.begin(), list.end(), [&](const Shared<T>& one) { return one->meta.name == name; });
  return found == list.end() ? nullptr : found->get();
}

}  // namespace verl::core
