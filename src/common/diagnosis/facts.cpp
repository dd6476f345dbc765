#include "diagnosis/facts.h"

#include <utility>

namespace verl::diagnosis {

void merge(NodeFacts& into, NodeFacts more) {
  nccl::merge(into.nccl, std::move(more.nccl));
  log::merge(into.log, std::move(more.log));
  topology::merge(into.topology, std::move(more.topology));
  clock::merge(into.clock, std::move(more.clock));
  fabric::merge(into.fabric, std::move(more.fabric));
  benchmark::merge(into.benchmark, std::move(more.benchmark));
  kubernetes::merge(into.kubernetes, std::move(more.kubernetes));
}

}  // namespace verl::diagnosis
