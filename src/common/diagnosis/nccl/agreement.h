// Settings of ranks against each other: which variables they have in different ways, as NCCL reads them. "0" and "0x0" are the same
// number, "ring" and "Ring" the same algorithm, and a default written out is as good as not set.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diagnosis/judge.h"
#include "diagnosis/nccl/catalogue.h"
#include "diagnosis/nccl/effective.h"
#include "diagnosis/nccl/split.h"

namespace verl::nccl {

// Ranks of one communicator. Trainers and rollout engines are different ones: only equal groups are compared.
// "container trainer" for "pod ppo-0 container trainer" and "container trainer rank 3": what numbers the rank is left out.
std::string group_of(std::string_view origin);

struct Member {
  std::string node{};  // or what the environment is called, when they are all of one node
  const Effective* settings{nullptr};
  std::optional<Version> version{};
};

struct Difference {
  std::string name{};
  const Variable* variable{nullptr};  // nullptr: not in the catalogue
  Agreement agreement{Agreement::Unclear};
  bool unset_somewhere{false};
  bool one_value{false};              // set alike wherever it is set
  Split split{};
  std::vector<diagnosis::Evidence> evidence{};  // one place for each text
};

// Sorted by name. Every difference that is one to NCCL, whether it matters or not. Hashes and sorts: never every pair.
std::vector<Difference> differences(const std::vector<Member>& members);

}  // namespace verl::nccl
