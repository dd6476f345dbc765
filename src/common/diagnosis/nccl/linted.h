// What the settings' rules are given, and how they speak of one setting. Shared by the rule groups, nobody else's.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnosis/facts.h"
#include "diagnosis/judge.h"
#include "diagnosis/nccl/catalogue.h"
#include "diagnosis/nccl/effective.h"
#include "diagnosis/policy.h"

namespace verl::nccl {

// One environment of a node with its files. References last for one call of lint_settings().
struct Linted {
  const diagnosis::NodeFacts& node;
  const diagnosis::Policy& policy;
  const Effective& environment;
  std::optional<Version> version{};
};

void lint_values(const Linted& linted, diagnosis::Findings& out);
void lint_files(const Linted& linted, diagnosis::Findings& out);  // NCCL021 to NCCL023
void lint_lists(const Linted& linted, diagnosis::Findings& out);  // lists of interfaces and devices
void lint_words(const Linted& linted, diagnosis::Findings& out);  // words and lists of words
void lint_ranges(const Linted& linted, diagnosis::Findings& out); // numbers out of range
void lint_names(const Linted& linted, diagnosis::Findings& out);
void lint_hygiene(const Linted& linted, diagnosis::Findings& out);
void lint_torch(const Linted& linted, diagnosis::Findings& out);
void lint_gloo(const Linted& linted, diagnosis::Findings& out);
void lint_frameworks(const Linted& linted, diagnosis::Findings& out);

// Rules that look at all environments of the node together.
void lint_environments(const std::vector<Effective>& all, diagnosis::Findings& out);

// The setting's text without what rule NCCL021 says of its line: a carriage return and a comment behind a value of a conf file.
std::string_view meant_text(const EffectiveSetting& setting);

// A finding on one setting: seen, evidence and the rule's remedy are filled in.
diagnosis::Finding about(std::string_view id, const EffectiveSetting& setting, std::string message);

diagnosis::Evidence evidence_of(const EffectiveSetting& setting);

// "2.27.3", or "NCCL" when it is not known.
std::string library(std::optional<Version> version);

// Set, and the integer reader gives that number.
bool is_number(const Effective& environment, std::string_view name, std::int64_t number);

// The default is what it says anyway, so it does nothing.
bool says_the_default(const Variable& variable, std::string_view text, std::optional<Version> version);

}  // namespace verl::nccl
