#include <hwloc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>

#include "host/live_host.h"

namespace verl::host {
namespace {

struct Destroy {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};

std::string cpu_list(hwloc_const_cpuset_t set) {
  char* text = nullptr;
  hwloc_bitmap_list_asprintf(&text, set);
  std::string list = text == nullptr ? "" : text;
  std::free(text);
  return list;
}

}  // namespace

Result<CpuTopology> hwloc_topology() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return failure(ErrorCode::Unavailable, "preparing hwloc failed");
  const std::unique_ptr<struct ::hwloc_topology, Destroy> topology(raw);
  // The pci component leaks 627 KB a load (2.9.0); gl and opencl talk to drivers. Devices are read from sysfs instead,
  // with the path of bridges that hwloc would show.
  for (const char* unwanted : {"pci", "gl", "opencl", "cuda", "nvml", "rsmi", "levelzero"}) {
    hwloc_topology_set_components(raw, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, unwanted);
  }
  // All of the machine, not only the CPUs of the agent's own cgroup.
  hwloc_topology_set_flags(raw, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  if (hwloc_topology_load(raw) != 0) return failure(ErrorCode::Unavailable, "hwloc could not read the topology of this machine");
  const auto count = [&](hwloc_obj_type_t type) { return std::max(0, hwloc_get_nbobjs_by_type(raw, type)); };
  CpuTopology seen{.sockets = count(HWLOC_OBJ_PACKAGE),
                   .cores = count(HWLOC_OBJ_CORE),
                   .cpus = count(HWLOC_OBJ_PU),
                   .memory_bytes = static_cast<std::int64_t>(hwloc_get_root_obj(raw)->total_memory),
                   .numa_nodes = {}};
  for (hwloc_obj_t node = nullptr; (node = hwloc_get_next_obj_by_type(raw, HWLOC_OBJ_NUMANODE, node)) != nullptr;) {
    seen.numa_nodes.push_back({.os_index = static_cast<std::int32_t>(node->os_index),
                               .cpus = cpu_list(node->cpuset),
                               .memory_bytes = static_cast<std::int64_t>(node->attr->numanode.local_memory)});
  }
  std::sort(seen.numa_nodes.begin(), seen.numa_nodes.end(),
            [](const NumaNode& a, const NumaNode& b) { return a.os_index < b.os_index; });
  if (seen.cpus == 0) return failure(ErrorCode::Unknown, "hwloc found no CPU on this machine");
  return seen;
}

}  // namespace verl::host
