// Conditions as Kubernetes means them: reason is stable CamelCase, message is for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"

namespace verl::api {

enum class ConditionStatus { True, False, Unknown };

struct Condition {
  std::string type{};
  ConditionStatus status{ConditionStatus::Unknown};
  std::string reason{};   // never empty on the wire
  std::string message{};  // at most kMaxConditionMessage bytes
  Timestamp last_transition{};
  std::int64_t observed_generation{0};
  bool operator==(const Condition&) const = default;
};

constexpr size_t kMaxConditionMessage = 4096;

std::string_view to_string(ConditionStatus status);

const Condition* find_condition(const std::vector<Condition>& conditions, std::string_view type);

// Sets or replaces the condition of `wanted.type`; last_transition stays as it was when the status does not change.
void set_condition(std::vector<Condition>& conditions, Condition wanted);

}  // namespace verl::api
