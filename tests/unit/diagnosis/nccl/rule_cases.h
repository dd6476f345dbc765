// One row a rule: settings on which it fires and settings that nearly do.
#pragma once

#include <string>
#include <vector>

#include "diagnosis/facts.h"
#include "diagnosis/policy.h"

namespace verl::nccl {

// Writes what a row needs beyond its settings into facts and policy.
using Arrange = void (*)(diagnosis::NodeFacts& node, diagnosis::Policy& policy);

struct Sample {
  std::vector<Setting> settings{};
  Arrange arrange{nullptr};
};

struct RuleCase {
  std::string id{};
  diagnosis::Severity severity{diagnosis::Severity::Error};
  std::string subject{};
  Sample fires{};
  Sample near_miss{};
};

std::vector<RuleCase> value_cases();
std::vector<RuleCase> name_cases();
std::vector<RuleCase> hygiene_cases();
std::vector<RuleCase> framework_cases();

}  // namespace verl::nccl
