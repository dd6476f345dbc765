#include "diagnosis/nccl/settings.h"

#include <algorithm>
#include <array>

#include "base/broken_invariant.h"
#include "diagnosis/nccl/catalogue.h"

namespace verl::nccl {

Match match_of(std::string_view name) {
  const Variable* variable = variable_named(name);
  if (!variable) return Match::Unlisted;
  switch (variable->agreement) {
    case Agreement::All:
    case Agreement::Pair:
    case Agreement::Node:  // ranks of one node: between nodes a difference only shows that nobody set it on purpose
    case Agreement::Fabric:
    case Agreement::Domain: return Match::Equal;
    case Agreement::Policy:
    case Agreement::Unclear: return Match::Uniform;
    case Agreement::PerNode: return Match::PerNode;
    case Agreement::Distinct: return Match::Distinct;
    case Agreement::Process:
    case Agreement::Local: return Match::Local;
    case Agreement::Never: return Match::Ineffective;
  }
  broken_invariant("an agreement outside its enumeration");
}

bool concerns_communication(std::string_view name) {
  constexpr std::array<std::string_view, 9> kPrefixes{"NCCL_", "NCCLXFER_", "GLOO_", "TORCH_NCCL_", "TORCH_FR_", "TP_", "UCX_", "FI_", "OFI_NCCL_"};
  return variable_named(name) != nullptr ||
         std::any_of(kPrefixes.begin(), kPrefixes.end(), [&](std::string_view prefix) { return name.starts_with(prefix); });
}

std::string_view to_string(Match match) {
  switch (match) {
    case Match::Equal: return "must be equal";
    case Match::Uniform: return "should be equal";
    case Match::PerNode: return "per node";
    case Match::Local: return "per process";
    case Match::Distinct: return "must differ";
    case Match::Ineffective: return "no effect";
    case Match::Unlisted: return "unlisted";
  }
  broken_invariant("a match rule outside its enumeration");
}

}  // namespace verl::nccl
