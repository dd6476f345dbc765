// What perftest prints about one run, shared by its text and its JSON.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "diagnosis/benchmark/facts.h"
#include "diagnosis/fabric/store.h"

namespace verl::benchmark {

struct Run {
  std::string test{};                      // "ib_write_bw"
  std::optional<bool> bidirectional{};
  std::optional<std::int64_t> queue_pairs{};
  std::string device{};
  std::optional<std::int32_t> mtu{};
  std::set<std::string> local_lids{};      // not zero
  std::set<std::string> remote_lids{};
  std::set<std::string> local_gids{};
  std::set<std::string> remote_gids{};
  std::int64_t rows{0};
  std::size_t number{0};                   // in the document, from 0
};

// "RDMA_Write BW Test" -> ib_write_bw; "Send Bidirectional BW Test" too says its direction. Empty for other text.
std::string test_of_title(std::string_view title);

// Both ends of the connection have one and the same address: a loopback. Nothing when no address was printed.
std::optional<bool> loopback(const Run& run);

// MB/sec and MiB/sec of perftest are both 2^20 bytes a second; Gb/sec is 1e9 bits. Nothing for other units.
std::optional<double> in_gbits(double value, std::string_view unit);

// What a line like " Number of qps   : 4            Transport type : IB" says, to the run and to values.
void take_setting(fabric::Store& store, Run& run, std::string_view key, std::string_view value, const fabric::Line& line);

// The path of a value of the run: "runs[0].device".
std::string run_path(const Run& run, std::string_view field);

}  // namespace verl::benchmark
