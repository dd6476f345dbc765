// Looks at a node. Reads and parses, judges nothing; what could not be read keeps its reason.
#pragma once

#include "host/host.h"
#include "node-agent/checks/observation.h"

namespace verl::agent {

Observation observe(const host::Host& host);

PacketSample packet_sample(const Observation& observation);

// Parts of observe(), in files of their own.
Reading<std::vector<Interface>> observe_interfaces(const host::Host& host);
Reading<std::vector<RdmaPort>> observe_rdma(const host::Host& host);
Reading<std::vector<topology::PciDevice>> observe_pci(const host::Host& host);
TimeObservation observe_time(const host::Host& host);

}  // namespace verl::agent
