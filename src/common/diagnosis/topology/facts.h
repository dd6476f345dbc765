// GPUs, NICs, NUMA nodes and how they are linked: one model for every tool that shows them.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "diagnosis/finding.h"

namespace verl::topology {

// As nvidia-smi and NCCL name them, nearest first. NvLink carries its count of links beside. Pcie: over PCIe, how near is not
// said. Unknown: the cell was not readable.
enum class Link { Self, NvLink, Xgmi, Pix, Pxb, Phb, Node, Sys, Pcie, Unknown };

struct Gpu {
  std::int32_t index{0};           // as the tool counts
  std::string name{};              // "NVIDIA H100 80GB HBM3"; empty: not said
  std::string bus_id{};            // "0000:1b:00.0", lower case, four digits of domain
  std::string uuid{};
  std::set<std::int32_t> numa{};   // more than one: the machine gives no locality, or some have no CPU; empty: not said
  std::optional<std::string> cpus{};  // "0-47,96-143" as printed; "" the cell is empty: no allowed CPU; nothing: not said
  bool cpus_truncated{false};      // the tool cut the list: never pin with it
  bool cpus_repaired{false};       // taken out of a damaged row: never pin with it
  std::optional<std::int32_t> memory_node{};  // the GPU's own memory is this NUMA node (Grace)
  std::optional<bool> mig{};       // MIG enabled
  std::optional<std::int32_t> mig_slices{};
  diagnosis::Evidence shown{};     // the line it was read from
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
  std::int32_t links{0};           // of NvLink: 18 for NV18
  std::optional<std::int32_t> weight{};  // as rocm-smi counts
  std::optional<std::int32_t> hops{};
  bool operator==(const Relation&) const = default;
};

struct NumaNode {
  std::int32_t id{0};
  std::string cpus{};              // "0-47,96-143"; empty: a node of memory alone
  std::optional<std::int64_t> memory_bytes{};
  bool operator==(const NumaNode&) const = default;
};

enum class DeviceKind { Other, Gpu, Nic, Bridge };

// The PCIe link of one function: what it runs at and what the card could. GT/s per lane.
struct PcieLink {
  std::string bus_id{};
  DeviceKind kind{DeviceKind::Other};
  std::string name{};              // "GPU0", "Ethernet controller: ..."
  std::optional<double> speed{};
  std::optional<double> speed_max{};
  std::optional<std::int32_t> width{};
  std::optional<std::int32_t> width_max{};
  std::optional<bool> busy{};      // an idle GPU lowers its speed; nothing: not said
  diagnosis::Evidence shown{};
  bool operator==(const PcieLink&) const = default;
};

// Access Control Services of one PCIe bridge, as set.
struct AcsBridge {
  std::string bus_id{};
  std::uint32_t control{0};        // bits of the ACS control register, PCIe base specification 7.7.11
  std::optional<bool> above_device{};  // is a GPU or NIC below it? Nothing: the listing does not tell
  diagnosis::Evidence shown{};
  bool operator==(const AcsBridge&) const = default;
};

// What an NCCL topology file claims. It may be of another machine, so it is never taken for the node.
struct TopologyFile {
  std::string source{};
  std::vector<std::string> gpus{};  // bus ids
  std::vector<std::string> nics{};
  bool operator==(const TopologyFile&) const = default;
};

struct Facts {
  std::vector<Gpu> gpus{};
  std::vector<Nic> nics{};
  std::vector<Relation> relations{};  // each pair once, a before b in the order of the tool
  std::vector<NumaNode> numa_nodes{};
  std::vector<PcieLink> pcie_links{};
  std::vector<AcsBridge> acs_bridges{};
  std::vector<TopologyFile> files{};
  std::vector<std::string> pci_devices{};  // bus ids of all GPUs and NICs that were seen on the node itself
  std::optional<bool> nvlink_shown{};  // false: a PCIe view, which says nothing about NVLink; nothing: not to be told
  std::optional<bool> nvswitch{};      // GPUs are joined by NVSwitch
  std::optional<bool> virtual_machine{};
  std::optional<std::int32_t> sockets{};
  std::string driver_version{};        // of the GPU driver, "550.54.15"
  bool incomplete{false};              // rows or names are missing: absence proves nothing
  bool operator==(const Facts&) const = default;
};

// Joins two tools' views of one node. GPUs are the same by bus id, or by index where one side has no bus id.
void merge(Facts& into, Facts more);

std::string_view to_string(Link link);     // "PIX", "NV", "XGMI", "unknown"
std::string to_text(const Relation& one);  // "NV18", "PIX"
std::string label_of(const Gpu& gpu);      // "GPU3"

}  // namespace verl::topology
