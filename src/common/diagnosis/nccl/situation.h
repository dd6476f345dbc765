// One environment on its node: what the rules about hardware are asked about. Reads settings as NCCL does and begins findings.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "diagnosis/facts.h"
#include "diagnosis/finding.h"
#include "diagnosis/nccl/effective.h"
#include "diagnosis/policy.h"

namespace verl::nccl {

// Borrows all it points to.
struct Situation {
  const diagnosis::NodeFacts* node{nullptr};
  const diagnosis::Policy* policy{nullptr};
  const Effective* settings{nullptr};
  std::optional<Version> version{};  // nothing: unknown
};

// Its text; nothing: not set. An empty text is nothing too: the variables that take it for a value are no matter here.
std::optional<std::string> text_of(const Situation& situation, std::string_view name);

// As strtoll reads it with base 0 (NCCL src/misc/param.cc): "true" is 0, "4M" is 4. Nothing: NCCL takes its default.
std::optional<std::int64_t> number_of(const Situation& situation, std::string_view name);

// Set and not 0.
bool is_on(const Situation& situation, std::string_view name);

// A path level of NCCL_P2P_LEVEL or NCCL_NET_GDR_LEVEL: a name or an old digit (src/graph/paths.cc); empty: NCCL ignores the text.
std::string level_of(const Situation& situation, std::string_view name);

bool spans_nodes(const Situation& situation);  // unknown counts as yes

// Of that rule about that variable, with its value and the place it was set.
diagnosis::Finding finding_about(const Situation& situation, std::string_view id, std::string_view variable);

}  // namespace verl::nccl
