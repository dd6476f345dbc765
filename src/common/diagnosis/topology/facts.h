// GPUs, NICs, NUMA nodes and how they are linked: one model for every tool that shows them.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace verl::topology {

// As nvidia-smi and NCCL name them, nearest first. NvLink carries its count of links beside. Unknown: the cell was not readable.
enum class Link { Self, NvLink, Xgmi, Pix, Pxb, Phb, Node, Sys, Unknown };

struct Gpu {
  std::int32_t index{0};           // as the tool counts
  std::string name{};              // "NVIDIA H100 80GB HBM3"; empty: not said
  std::string bus_id{};            // "0000:1b:00.0", lower case, four digits of domain
  std::set<std::int32_t> numa{};   // more than one: the machine gives no locality; empty: not said
  std::optional<std::string> cpus{};  // "0-47,96-143" as printed; "" the cell is empty: no allowed CPU; nothing: not said
  bool cpus_truncated{false};      // the tool cut the list: never pin with it
  std::optional<bool> mig{};       // MIG enabled
  bool operator==(const Gpu&) const = default;
};

struct Nic {
  std::string label{};             // "NIC0"; equal to the device where the tool prints device names
  std::string device{};            // "mlx5_0"; empty: not said
  std::string bus_id{};
  std::set<std::int32_t> numa{};
  bool operator==(const Nic&) const = default;
};

struct Relation {
  std::string a{};                 // "GPU0", "NIC1"
  std::string b{};
  Link link{Link::Unknown};
  std::int32_t links{0};           // of NvLink or Xgmi: 18 for NV18
  bool operator==(const Relation&) const = default;
};

struct NumaNode {
  std::int32_t id{0};
  std::string cpus{};              // "0-47,96-143"; empty: a node of memory alone
  std::optional<std::int64_t> memory_bytes{};
  bool operator==(const NumaNode&) const = default;
};

struct Facts {
  std::vector<Gpu> gpus{};
  std::vector<Nic> nics{};
  std::vector<Relation> relations{};  // each pair once, a before b in the order of the tool
  std::vector<NumaNode> numa_nodes{};
  std::optional<bool> nvlink_shown{};  // false: a PCIe view, which says nothing about NVLink; nothing: no view at all
  std::optional<bool> nvswitch{};      // GPUs are joined by NVSwitch
  bool incomplete{false};              // rows or names are missing: absence proves nothing
  bool operator==(const Facts&) const = default;
};

void merge(Facts& into, Facts more);

}  // namespace verl::topology
