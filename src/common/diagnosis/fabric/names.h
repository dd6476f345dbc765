// What the name of a device or interface tells about it. Names are conventions of drivers, udev and CNIs, so nothing here
// proves anything: a tool that says the kind outright is believed first.
#pragma once

#include <string_view>

#include "diagnosis/fabric/facts.h"

namespace verl::fabric {

// rxe and siw: RDMA emulated over any interface. They never satisfy a requirement for RDMA.
bool is_software_rdma(std::string_view device);

// "mlx5_bond_0", "bnxt_re_bond0": the device of a bond, which is no rail.
bool is_bond_device(std::string_view device);

// "mlx5_0", "rocep23s0f0", "bnxt_re1", "efa_0", "rdmap16s27": names that RDMA drivers and udev give.
bool is_rdma_device_name(std::string_view name);

InterfaceKind kind_of_name(std::string_view interface);

// The letters, digits and signs that a Linux interface or device name is made of, at least one; at most 64 bytes.
bool is_name(std::string_view text);

// "mlx5_2" before "mlx5_10": digits at the end count as a number.
bool natural_less(std::string_view a, std::string_view b);

}  // namespace verl::fabric
