// Measurements of bandwidth and latency, each with what it takes to compare it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diagnosis/finding.h"

namespace verl::benchmark {

struct Measurement {
  std::string test{};                        // "ib_write_bw", "all_reduce_perf"; empty: the text does not name it
  std::int64_t size{0};                      // bytes of a message
  std::optional<std::int64_t> queue_pairs{};
  std::optional<bool> bidirectional{};
  std::optional<double> gbits_per_s{};       // average of perftest, Gb/s (1e9 bit)
  std::optional<double> bus_gbytes_per_s{};  // nccl-tests, GB/s (1e9 byte), the better of out-of-place and in-place
  std::optional<double> latency_us{};        // average
  bool network{true};                        // false: loopback or one host: proves nothing about the network
  std::string device{};                      // of RDMA: "mlx5_2"
  std::optional<std::int32_t> mtu{};         // of the RDMA path, bytes
  std::optional<std::int64_t> ranks{};       // of nccl-tests
  diagnosis::Evidence line{};
  bool operator==(const Measurement&) const = default;
};

struct Facts {
  std::vector<Measurement> measurements{};
  bool operator==(const Facts&) const = default;
};

void merge(Facts& into, Facts more);

}  // namespace verl::benchmark
