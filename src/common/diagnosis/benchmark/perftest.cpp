#include "diagnosis/benchmark/perftest.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/text.h"

namespace verl::benchmark {
namespace {

std::string snake(std::string_view key) {
  std::string name;
  for (const char c : key) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!name.empty() && name.back() != '_') {
      name += '_';
    }
  }
  while (name.ends_with('_')) name.pop_back();
  return name;
}

}  // namespace

std::string test_of_title(std::string_view title) {
  title = trim(title);
  if (!title.ends_with(" Test")) return {};
  constexpr std::pair<std::string_view, std::string_view> kOperations[] = {
      {"RDMA_Write", "write"}, {"RDMA_Read", "read"}, {"Send", "send"}, {"Atomic", "atomic"}, {"RDMA_Write_With_Imm", "write"}, {"WRITE_IMM", "write"}, {"Raw_Ethernet", "raw_ethernet"}};
  std::string operation;
  for (const auto& [word, name] : kOperations) {
    if (title.starts_with(word)) operation = name;
  }
  if (operation.empty()) return {};
  const bool bandwidth = fabric::contains(title, " BW");
  if (!bandwidth && !fabric::contains(title, "Latency")) return {};
  return (operation == "raw_ethernet" ? "" : "ib_") + operation + (bandwidth ? "_bw" : "_lat");
}

std::optional<bool> loopback(const Run& run) {
  const auto one = [](const std::set<std::string>& local, const std::set<std::string>& remote) -> std::optional<bool> {
    if (local.empty() || remote.empty()) return std::nullopt;
    return local.size() == 1 && local == remote;
  };
  // RoCE prints LID 0 at both ends, so only its GIDs tell.
  if (const auto lids = one(run.local_lids, run.remote_lids)) return lids;
  return one(run.local_gids, run.remote_gids);
}

std::optional<double> in_gbits(double value, std::string_view unit) {
  constexpr double kMebibyteBits = 1048576.0 * 8;
  if (unit == "Gb/sec") return value;
  if (unit == "MB/sec" || unit == "MiB/sec") return value * kMebibyteBits / 1e9;
  return std::nullopt;
}

void take_setting(fabric::Store& store, Run& run, std::string_view key, std::string_view value, const fabric::Line& line) {
  if (value.empty()) return;
  const std::string name = snake(key);
  if (name == "number_of_qps") {
    const auto number = parse_int(value);
    if (!number || *number <= 0) return store.unread(line, "no number of queue pairs");
    run.queue_pairs = *number;
    return store.value(run_path(run, "queue_pairs"), *number);
  }
  if (name == "mtu") {
    const auto mtu = parse_int<std::int32_t>(value.substr(0, value.find('[')));
    if (!mtu || *mtu <= 0) return store.unread(line, "no MTU");
    run.mtu = *mtu;
    return store.value(run_path(run, "mtu"), std::int64_t{*mtu}, "B");
  }
  if (name == "device") run.device = std::string(value);
  const auto number = parse_int(value);
  store.value(run_path(run, name), number ? diagnosis::Scalar{*number} : diagnosis::Scalar{std::string(value)});
}

std::string run_path(const Run& run, std::string_view field) { return "runs[" + std::to_string(run.number) + "]." + std::string(field); }

}  // namespace verl::benchmark
