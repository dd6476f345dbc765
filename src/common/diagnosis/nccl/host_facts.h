// What a node, its container and its site are able to do, as far as NCCL's settings hang on it. Interfaces, ports, GPUs and
// limits stand in the facts of their own families; here is the rest. What is empty was not asked or could not be told.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace verl::nccl {

// A process of the job on the node. Empty texts: not known.
struct HostProcess {
  std::string name{};               // "pod ppo-0", "rank 3"
  std::string hostname{};           // as the process sees it
  std::string network_namespace{};  // "net:[4026531840]"
  bool operator==(const HostProcess&) const = default;
};

// A file that a setting names: NCCL_TOPO_FILE, a plugin.
struct HostFile {
  std::optional<bool> present{};
  std::optional<bool> malformed{};
  std::string digest{};         // of its content
  std::string instance_type{};  // the machine it was made for
  bool operator==(const HostFile&) const = default;
};

struct HostFacts {
  std::optional<bool> libibverbs{};          // can be loaded
  std::map<std::string, bool> openable{};    // RDMA device -> its uverbs file can be opened in the container
  std::optional<bool> peer_memory_module{};  // nvidia_peermem or nv_peer_mem is loaded
  std::optional<bool> dmabuf{};              // driver and kernel give DMA-BUF
  std::optional<bool> acs_redirect{};        // a bridge sends peer traffic up to the root
  std::optional<bool> iommu_translation{};   // on, and not in passthrough
  std::optional<bool> nvls_multicast{};      // the driver offers multicast over NVSwitch
  std::optional<bool> imex_channel{};        // /dev/nvidia-caps-imex-channels holds one
  std::optional<bool> ipc_lock{};            // CAP_IPC_LOCK
  std::optional<bool> own_network_namespace{};
  std::optional<std::string> cpuset{};       // "0-15,32-47": CPUs of the container
  std::optional<std::int32_t> local_ranks{};
  std::optional<std::vector<std::string>> plugins{};   // library files that can be loaded: "libnccl-net.so"
  std::optional<std::vector<std::string>> networks{};  // names those libraries register: "AWS Libfabric"
  std::optional<bool> sharp_plugin{};
  std::vector<HostProcess> processes{};
  std::map<std::string, HostFile> files{};                         // by path
  std::map<std::string, std::vector<std::uint16_t>> partitions{};  // "mlx5_0/1" -> its P_Key table
  std::string driver{};                                            // "570.124.06"
  std::string instance_type{};
  // The fabric behind the node.
  std::optional<std::int32_t> lossless_dscp{};
  std::optional<bool> adaptive_routing{};  // switches that spread packets, and NICs set up for it
  std::optional<bool> rails_isolated{};    // no route from one rail to another
  bool operator==(const HostFacts&) const = default;
};

// What was known first stays.
void merge(HostFacts& into, HostFacts more);

}  // namespace verl::nccl
