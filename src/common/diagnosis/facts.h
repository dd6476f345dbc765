// All that is known about one node, from however many documents. Each family owns its part.
#pragma once

#include "diagnosis/benchmark/facts.h"
#include "diagnosis/fabric/facts.h"
#include "diagnosis/kubernetes/facts.h"
#include "diagnosis/log/facts.h"
#include "diagnosis/nccl/facts.h"
#include "diagnosis/time/facts.h"
#include "diagnosis/topology/facts.h"

namespace verl::diagnosis {

struct NodeFacts {
  nccl::Facts nccl{};
  log::Facts log{};
  topology::Facts topology{};
  clock::Facts clock{};
  fabric::Facts fabric{};
  benchmark::Facts benchmark{};
  kubernetes::Facts kubernetes{};
};

// What both documents say about the same thing (a port, an interface) becomes one; what contradicts keeps the first.
void merge(NodeFacts& into, NodeFacts more);

}  // namespace verl::diagnosis
