#include "diagnosis/nccl/lint.h"

#include "diagnosis/nccl/linted.h"

namespace verl::nccl {

void lint_settings(const diagnosis::NodeFacts& node, const diagnosis::Policy& policy, diagnosis::Findings& out) {
  const std::optional<Version> version = known_version(node.nccl, policy);
  const std::vector<Effective> all = effective_environments(node.nccl, version);
  for (const Effective& one : all) {
    const Linted linted{.node = node, .policy = policy, .environment = one, .version = version};
    for (const auto rules : {lint_values, lint_files, lint_lists, lint_words, lint_ranges, lint_names, lint_hygiene, lint_torch, lint_gloo, lint_frameworks}) {
      rules(linted, out);
    }
  }
  lint_environments(all, out);
}

}  // namespace verl::nccl
