#include "diagnosis/format.h"

#include <array>

#include "diagnosis/benchmark/readers.h"

namespace verl::diagnosis {
namespace {

Format format(std::string_view name, std::string_view what, int (*likeness)(std::string_view), Result<Reading> (*read)(std::string_view, const ReadOptions&)) {
  Format one;
  one.name = name;
  one.what = what;
  one.likeness = likeness;
  one.read = read;
  return one;
}

}  // namespace

std::span<const Format> benchmark_formats() {
  static const std::array kFormats{
      format("perftest", "ib_write_bw, ib_read_lat and their kin", benchmark::likeness_perftest, benchmark::read_perftest),
      format("perftest-json", "perftest --out_json", benchmark::likeness_perftest_json, benchmark::read_perftest_json),
      format("nccl-tests", "all_reduce_perf and its kin", benchmark::likeness_nccl_tests, benchmark::read_nccl_tests),
      format("nccl-tests-json", "all_reduce_perf -J", benchmark::likeness_nccl_tests_json, benchmark::read_nccl_tests_json),
  };
  return kFormats;
}

}  // namespace verl::diagnosis
