#include "api/condition.h"

#include <algorithm>
#include <utility>

#include "base/broken_invariant.h"

namespace verl::api {

std::string_view to_string(ConditionStatus status) {
  switch (status) {
    case ConditionStatus::True: return "True";
    case ConditionStatus::False: return "False";
    case ConditionStatus::Unknown: return "Unknown";
  }
  broken_invariant("a ConditionStatus outside its enumeration");
}

const Condition* find_condition(const std::vector<Condition>& conditions, std::string_view type) {
  const auto found = std::find_if(conditions.begin(), conditions.end(), [&](const Condition& c) { return c.type == type; });
  return found == conditions.end() ? nullptr : &*found;
}

void set_condition(std::vector<Condition>& conditions, Condition wanted) {
  const auto found =
      std::find_if(conditions.begin(), conditions.end(), [&](const Condition& c) { return c.type == wanted.type; });
  if (found == conditions.end()) {
    conditions.push_back(std::move(wanted));
    return;
  }
  if (found->status == wanted.status) wanted.last_transition = found->last_transition;
  *found = std::move(wanted);
}

}  // namespace verl::api
