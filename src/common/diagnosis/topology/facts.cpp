#include "diagnosis/topology/facts.h"

#include <utility>

namespace verl::topology {

void merge(Facts& into, Facts more) {
  if (into.gpus.empty()) into.gpus = std::move(more.gpus);
  if (into.nics.empty()) into.nics = std::move(more.nics);
  if (into.relations.empty()) into.relations = std::move(more.relations);
  if (into.numa_nodes.empty()) into.numa_nodes = std::move(more.numa_nodes);
  if (!into.nvlink_shown) into.nvlink_shown = more.nvlink_shown;
  if (!into.nvswitch) into.nvswitch = more.nvswitch;
  into.incomplete = into.incomplete || more.incomplete;
}

}  // namespace verl::topology
