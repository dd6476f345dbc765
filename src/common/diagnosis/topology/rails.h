// The RDMA devices that carry the GPUs' traffic: for each GPU its nearest NICs, without ports that are down or belong to a bond.
#pragma once

#include <string>
#include <vector>

#include "diagnosis/fabric/facts.h"
#include "diagnosis/topology/facts.h"

namespace verl::topology {

struct Rails {
  std::vector<std::string> devices{};                    // "mlx5_0", each once, in natural order
  std::vector<std::pair<std::string, std::string>> left_out{};  // device, why
  std::string why_unknown{};                             // not empty: the devices cannot be told, and why
  bool operator==(const Rails&) const = default;
};

// A NIC across the sockets (SYS) is nobody's rail. Without facts about ports all near NICs are taken.
Rails rail_devices(const Facts& topology, const fabric::Facts& fabric);

// NCCL_IB_HCA that takes exactly these: "=mlx5_0,mlx5_1". The '=' keeps mlx5_1 from also taking mlx5_10.
std::string hca_list(const std::vector<std::string>& devices);

}  // namespace verl::topology
