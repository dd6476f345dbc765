// What is wanted of nodes: limits that a site decides. A limit that is not given is not judged; what is judged prints its limit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"

namespace verl::diagnosis {

// At least so much bandwidth (or at most so much latency) in one measurement. A number is only compared at equal size, queue pairs and direction.
struct Expectation {
  std::string test{};                    // "ib_write_bw", "all_reduce_perf"
  std::optional<std::int64_t> size{};    // bytes of a message
  std::optional<std::int64_t> queue_pairs{};
  std::optional<bool> bidirectional{};
  std::optional<double> minimum{};       // Gb/s for perftest, GB/s of bus bandwidth for nccl-tests
  std::optional<double> maximum_us{};    // latency
  bool operator==(const Expectation&) const = default;
};

struct Suppression {
  std::string id{};
  std::string subject{};  // empty: any; may end in '*'
  std::string node{};     // empty: any; may end in '*'
  std::string reason{};   // never empty: who, why
  bool operator==(const Suppression&) const = default;
};

struct Policy {
  std::optional<std::int32_t> mtu_min{};        // netdev MTU of fabric interfaces, bytes
  std::optional<std::int32_t> rdma_mtu_min{};   // active_mtu of RoCE ports, bytes
  std::optional<std::int32_t> link_gbps_min{};  // per fabric port
  Microseconds clock_warn{50'000};              // beyond it a warning
  Microseconds clock_fail{500'000};             // beyond it the node is not ready
  bool allow_local_reference{false};            // a server of our own without an outside reference is good enough
  std::optional<std::int32_t> gpus{};
  std::optional<std::int32_t> rdma_devices{};
  std::optional<std::int32_t> numa_nodes{};
  std::vector<std::string> fabric_interfaces{};  // names or prefixes ending in '*'
  std::string control_interface{};
  std::string platform{};                        // "", "aws", "gcp", "azure", "oci": which vendor's settings are legitimate
  std::optional<bool> multi_node{};              // does the job span nodes? Nothing: yes, the safe assumption
  std::string expected_network{};                // as NCCL names it: "IB", "AWS Libfabric"; empty: judged by the hardware
  std::string nccl_version{};                    // "2.27.3", for what is linted without a log; empty: unknown
  bool gpudirect{false};                         // the job needs GPUDirect RDMA or GPU-initiated networking
  bool software_rdma{false};                     // rxe and siw are good enough
  std::string rdma_resource{};                   // extended resource that stands for RDMA devices: "rdma/hca"
  std::vector<Expectation> expectations{};
  std::vector<Suppression> suppressions{};
  bool operator==(const Policy&) const = default;
};

}  // namespace verl::diagnosis
