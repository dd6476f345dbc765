// Every value of a node's topology by a path name, the same for all formats.
#pragma once

#include "diagnosis/reading.h"
#include "diagnosis/topology/facts.h"

namespace verl::topology {

// "gpus", "nics", "GPU0.numa", "GPU0.cpus", "GPU0.gpu[GPU1]", "GPU0.nic[NIC0]", "GPU0.nearest", "GPU0.pin.node", "nvlink.pairs", ...
void add_values(const Facts& facts, diagnosis::Reading& reading);

void add_value(diagnosis::Reading& reading, std::string name, diagnosis::Scalar value, std::string unit = {});

}  // namespace verl::topology
