// The machine this process runs on.
#pragma once

#include <memory>
#include <string>

#include "host/file_root.h"
#include "host/host.h"

namespace verl::host {

struct LiveHostOptions {
  std::string root{"/"};  // in a container, where the machine's /sys, /proc and /etc are mounted: "/host"
  std::string chronyd_socket{"/run/chrony/chronyd.sock"};  // tried first; may be absent
  std::uint16_t chronyd_port{323};                         // then UDP on 127.0.0.1
};

Result<std::unique_ptr<Host>> live_host(const LiveHostOptions& options);

// Packages, cores, threads, NUMA nodes and memory by hwloc, of this machine.
Result<CpuTopology> hwloc_topology();

// One datagram to chronyd and its answer. The socket path is tried first and needs root; UDP needs nothing.
Result<std::string> chronyd_exchange(std::string_view request, const LiveHostOptions& options);

}  // namespace verl::host
