// A fixed piece of work, so that figures of different machines and of a loaded one can be compared.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>

inline void calibration(benchmark::State& state) {
  std::uint64_t x = 1;
  for (auto _ : state) {
    for (int i = 0; i < 1'000'000; ++i) {
      x = x * 6364136223846793005ULL + 1442695040888963407ULL;
    }
    benchmark::DoNotOptimize(x);
  }
}

BENCHMARK(calibration)->Unit(benchmark::kMillisecond);
