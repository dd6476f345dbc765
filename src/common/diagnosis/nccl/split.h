// The nodes of a set sorted by what they say to one question: what most say, who deviates, and the finding of it. One finding a
// deviation, however many nodes: names are shortened in the sentence and complete in `nodes`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "diagnosis/finding.h"

namespace verl::nccl {

struct Said {
  std::string node{};
  std::string value{};  // as people read it
  bool operator==(const Said&) const = default;
};

struct Side {
  std::string value{};
  std::vector<std::string> nodes{};  // sorted
  bool operator==(const Side&) const = default;
};

struct Split {
  std::vector<Side> sides{};  // the largest first
  bool tie{false};            // no value has the most nodes: then every node deviates
  bool operator==(const Split&) const = default;
};

// At least two sides when the nodes differ; one when they agree; none when nobody spoke.
Split split_of(std::vector<Said> said);

bool differs(const Split& split);

// "4096 on node-a and 3 more; 2048 on node-b".
std::string sides_text(const Split& split);

// nodes: who deviates (all of them in a tie); seen: what those say; wanted: what most say; message: "WHAT: " and the sides.
diagnosis::Finding finding_of_split(std::string_view id, std::string subject, std::string_view what, const Split& split);

}  // namespace verl::nccl
