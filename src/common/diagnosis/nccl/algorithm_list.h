// NCCL_ALGO and NCCL_PROTO as NCCL parses them: before 2.24 one list, from 2.24 a list for each function (src/graph/tuning.cc).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnosis/nccl/version.h"

namespace verl::nccl {

struct AlgorithmList {
  std::vector<std::string> unknown{};  // words and functions this release does not know
  bool misplaced{false};               // a part behind the first one without a function
  bool nothing_left{false};            // a positive list of unknown words only
  bool forces_ll128{false};            // NCCL_PROTO: LL128 is switched on past the check of the hardware
  bool varies{false};                  // known to some releases only
};

// Without a version a word counts as known when any release knows it.
AlgorithmList read_algorithms(std::string_view name, std::string_view text, std::optional<Version> version);

std::string algorithm_words(std::string_view name, std::optional<Version> version);

}  // namespace verl::nccl
