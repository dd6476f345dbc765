// The readers of this folder: perftest (ib_write_bw and its kin) and nccl-tests, as text and as JSON.
#pragma once

#include <string_view>

#include "diagnosis/format.h"

namespace verl::benchmark {

using Reading = Result<diagnosis::Reading>;
using diagnosis::ReadOptions;

int likeness_perftest(std::string_view head);
Reading read_perftest(std::string_view text, const ReadOptions& options);

int likeness_perftest_json(std::string_view head);
Reading read_perftest_json(std::string_view text, const ReadOptions& options);

int likeness_nccl_tests(std::string_view head);
Reading read_nccl_tests(std::string_view text, const ReadOptions& options);

int likeness_nccl_tests_json(std::string_view head);
Reading read_nccl_tests_json(std::string_view text, const ReadOptions& options);

}  // namespace verl::benchmark
