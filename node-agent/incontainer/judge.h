// Whether a container is fit for a Ray node of the job, from what was seen in it. A pure function; every sentence says what was
// seen, what was wanted and what to do. What could not be seen is never taken for well.
#pragma once

#include <string>
#include <vector>

#include "node-agent/incontainer/facts.h"

namespace verl::incontainer {

struct Verdict {
  std::vector<std::string> failures{};  // any of them ends the container
  std::vector<std::string> warnings{};
  bool operator==(const Verdict&) const = default;
};

// Below the first the container is unfit, below the second it is told. Ray calls 8192 open files the least for production and
// recommends 65536; eight GPUs of a verl job run some forty processes of a hundred threads and more.
constexpr std::uint64_t kLeastOpenFiles = 8192;
constexpr std::uint64_t kGoodOpenFiles = 65536;
constexpr std::uint64_t kLeastProcesses = 8192;
constexpr std::uint64_t kGoodProcesses = 32768;

Verdict judge(const Wanted& wanted, const Facts& facts);

}  // namespace verl::incontainer
