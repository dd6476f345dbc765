#include "diagnosis/nccl/host_facts.h"

#include <iterator>
#include <utility>

namespace verl::nccl {
namespace {

template <class T>
void keep_first(std::optional<T>& into, std::optional<T>& more) {
  if (!into) into = std::move(more);
}

void keep_first(std::string& into, std::string& more) {
  if (into.empty()) into = std::move(more);
}

}  // namespace

void merge(HostFacts& into, HostFacts more) {
  keep_first(into.libibverbs, more.libibverbs);
  into.openable.merge(more.openable);
  keep_first(into.peer_memory_module, more.peer_memory_module);
  keep_first(into.dmabuf, more.dmabuf);
  keep_first(into.acs_redirect, more.acs_redirect);
  keep_first(into.iommu_translation, more.iommu_translation);
  keep_first(into.nvls_multicast, more.nvls_multicast);
  keep_first(into.imex_channel, more.imex_channel);
  keep_first(into.ipc_lock, more.ipc_lock);
  keep_first(into.own_network_namespace, more.own_network_namespace);
  keep_first(into.cpuset, more.cpuset);
  keep_first(into.local_ranks, more.local_ranks);
  keep_first(into.plugins, more.plugins);
  keep_first(into.networks, more.networks);
  keep_first(into.sharp_plugin, more.sharp_plugin);
  std::move(more.processes.begin(), more.processes.end(), std::back_inserter(into.processes));
  into.files.merge(more.files);
  into.partitions.merge(more.partitions);
  keep_first(into.driver, more.driver);
  keep_first(into.instance_type, more.instance_type);
  keep_first(into.lossless_dscp, more.lossless_dscp);
  keep_first(into.adaptive_routing, more.adaptive_routing);
  keep_first(into.rails_isolated, more.rails_isolated);
}

}  // namespace verl::nccl
