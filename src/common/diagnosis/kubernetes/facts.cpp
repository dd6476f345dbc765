#include "diagnosis/kubernetes/facts.h"

#include <utility>

namespace verl::kubernetes {

void merge(Facts& into, Facts more) {
  if (!into.memlock_bytes) into.memlock_bytes = more.memlock_bytes;
  if (!into.shm_bytes) into.shm_bytes = more.shm_bytes;
  if (!into.shm_free_bytes) into.shm_free_bytes = more.shm_free_bytes;
  if (into.kubelet_version.empty()) into.kubelet_version = std::move(more.kubelet_version);
  if (into.topology_provider.empty()) {
    into.topology_provider = std::move(more.topology_provider);
    into.topology_layers = more.topology_layers;
  }
  if (into.rack.empty()) into.rack = std::move(more.rack);
}

}  // namespace verl::kubernetes
