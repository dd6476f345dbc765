// Bytes of log read a second, in pieces of 1 MiB, and the peak of memory: a gigabyte of INFO lines as 64 ranks write them with Ray's
// tags, and one where every tenth line is a failure. The budget is 10 s for the gigabyte on one core, with constant memory.
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <string>

#include "bench/calibration.h"
#include "diagnosis/format.h"

namespace {

using namespace verl::diagnosis;

constexpr std::int64_t kGigabyte = 1'000'000'000;
constexpr std::size_t kPiece = 1024 * 1024;

// One round of lines: every process says where it talks to, and what else it talks about.
std::string lines(bool failing) {
  std::string text = "NCCL version 2.27.3+cuda12.9\n";
  for (int process = 0; process < 64; ++process) {
    const std::string own = fmt::format("\x1b[36m(WorkerDict pid={0}, ip=10.7.0.{1})\x1b[0m node-{1}:{0}:{2} [{3}] NCCL INFO ", 4000 + process, process / 8, 5000 + process, process % 8);
    text += own + "NET/IB : Using [0]hfi_0:1/RoCE [1]hfi_1:1/RoCE [2]hfi_2:1/RoCE [3]hfi_3:1/RoCE [RO]; OOB ens1:10.7.0.1<0>\n";
    text += own + "Using network IB\n";
    for (int channel = 0; channel < 32; ++channel) {
      text += own + fmt::format("Channel {:02}/0 : {}[{}] -> {}[{}] [send] via NET/IB/{}/GDRDMA\n", channel, process, process % 8, (process + 8) % 64, process % 8, channel % 4);
      text += own + fmt::format("Channel {:02}/0 : {}[{}] -> {}[{}] via P2P/CUMEM/read\n", channel, process, process % 8, (process + 1) % 64, (process + 1) % 8);
      text += fmt::format("(WorkerDict pid={}) INFO 01-14 08:02:11 rollout of batch {} done, 312.5 tokens/s, cache use 41.2 %\n", 4000 + process, channel);
      if (failing && channel % 3 == 0) {
        text += fmt::format("\nnode-{}:{}:{} [{}] transport/net_ib.cc:2458 NCCL WARN NET/IB: Got completion from peer 10.7.1.{}<40422> with status=12 opcode=0 len=0 vendor err 129 (Send) "
                            "localGid ::ffff:10.7.0.1 remoteGids::ffff:10.7.1.{} hca hfi_{}\n",
                            process / 8, 4000 + process, 5000 + process, process % 8, channel, channel, channel % 4);
      }
    }
  }
  return text;
}

void read_log(benchmark::State& state, bool failing) {
  const std::string round = lines(failing);
  std::string text;
  while (text.size() < 4 * kPiece + round.size()) text += round;
  const std::vector<Format> formats = all_formats();
  const Format* format = format_named(formats, "log");
  for (auto _ : state) {
    const auto reader = format->stream({});
    std::int64_t fed = 0;
    // A piece begins where the last one ended, in the middle of a line: the text repeats after a whole round.
    const std::size_t whole = text.size() / round.size() * round.size();
    std::size_t at = 0;
    while (fed < kGigabyte) {
      const std::size_t size = std::min(kPiece, whole - at);
      reader->feed(std::string_view(text).substr(at, size));
      fed += static_cast<std::int64_t>(size);
      at = at + size == whole ? 0 : at + size;
    }
    benchmark::DoNotOptimize(reader->finish());
  }
  state.SetBytesProcessed(state.iterations() * kGigabyte);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["peak_rss_mib"] = static_cast<double>(usage.ru_maxrss) / 1024;
}

void healthy_log(benchmark::State& state) { read_log(state, false); }
void failing_log(benchmark::State& state) { read_log(state, true); }

BENCHMARK(healthy_log)->Unit(benchmark::kSecond)->Iterations(1);
BENCHMARK(failing_log)->Unit(benchmark::kSecond)->Iterations(1);

}  // namespace

BENCHMARK_MAIN();
