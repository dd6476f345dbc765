#include <array>

#include "diagnosis/format.h"
#include "diagnosis/log/reader.h"

namespace verl::diagnosis {
namespace {

Result<Reading> read_log(std::string_view text, const ReadOptions& options) {
  const auto reader = log::make_reader(options);
  reader->feed(text);
  return reader->finish();
}

constexpr std::array kFormats{
    Format{.name = "log", .what = "logs of a job or node: NCCL_DEBUG, PyTorch, Gloo, Ray, verl, kubelet, scheduler, kernel", .likeness = log::likeness, .read = read_log, .stream = log::make_reader},
};

}  // namespace

std::span<const Format> log_formats() { return kFormats; }

}  // namespace verl::diagnosis
