// What the names of a node's GPUs say about their generation. Names as nvidia-smi prints them.
#pragma once

#include "diagnosis/topology/facts.h"

namespace verl::nccl {

// Ampere and Ada have compute capability 8, Hopper 9, Blackwell 10 and 12. Unknown: no GPU is known, or its name says nothing.
enum class Generation { Unknown, Older, Ampere, Hopper, Blackwell };

Generation generation_of(const topology::Facts& topology);

}  // namespace verl::nccl
