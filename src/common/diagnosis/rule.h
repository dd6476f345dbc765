// The one table of rules: every finding carries the id of a rule, docs/lint.md is written from it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "diagnosis/finding.h"

namespace verl::diagnosis {

struct Rule {
  std::string_view id{};      // NCCL rules have numbers, all others words; ids never change their meaning
  Severity severity{Severity::Error};  // what it usually is; a finding may say otherwise where the rule's `why` says so
  std::string_view title{};   // the condition, one line: "an integer variable with text after the number"
  std::string_view why{};     // what happens then, one or two sentences
  std::string_view remedy{};  // what to do in general; a finding may say it with the values at hand
};

// All rules, in the order of docs/lint.md; ids are unique (a test looks).
std::vector<Rule> all_rules();

// A finding of that rule with its severity and general remedy. An id without a rule is a broken invariant.
Finding finding_of(std::string_view id, std::string subject);

// docs/lint.md as it has to be.
std::string rules_as_markdown();

// Each family lists its own; all_rules() joins them.
std::span<const Rule> nccl_rules();        // nccl/rules.cpp: NCCL001 to NCCL5xx
std::span<const Rule> log_rules();         // log/rules.cpp: NCCL6xx and causes found in logs
std::span<const Rule> topology_rules();    // topology/rules.cpp
std::span<const Rule> time_rules();        // time/rules.cpp
std::span<const Rule> fabric_rules();      // fabric/rules.cpp: RDMA ports, interfaces, counters
std::span<const Rule> benchmark_rules();   // benchmark/rules.cpp
std::span<const Rule> kubernetes_rules();  // kubernetes/rules.cpp
std::span<const Rule> document_rules();    // rules.cpp: what could not be recognised or read

}  // namespace verl::diagnosis
