#include "diagnosis/nccl/gpu_kind.h"

#include <array>
#include <string_view>

#include "base/text.h"

namespace verl::nccl {
namespace {

struct Mark {
  std::string_view word{};  // how a word of the product name begins
  Generation generation{Generation::Unknown};
};

constexpr std::array kMarks{
    Mark{"A100", Generation::Ampere},   Mark{"A800", Generation::Ampere},   Mark{"A30", Generation::Ampere},    Mark{"A40", Generation::Ampere},
    Mark{"A10", Generation::Ampere},    Mark{"L40", Generation::Ampere},    Mark{"L20", Generation::Ampere},    Mark{"L4", Generation::Ampere},
    Mark{"H100", Generation::Hopper},   Mark{"H200", Generation::Hopper},   Mark{"H800", Generation::Hopper},   Mark{"H20", Generation::Hopper},
    Mark{"GH200", Generation::Hopper},  Mark{"B100", Generation::Blackwell}, Mark{"B200", Generation::Blackwell}, Mark{"B300", Generation::Blackwell},
    Mark{"GB200", Generation::Blackwell}, Mark{"GB300", Generation::Blackwell}, Mark{"V100", Generation::Older},   Mark{"P100", Generation::Older},
    Mark{"T4", Generation::Older},
};

}  // namespace

Generation generation_of(const topology::Facts& topology) {
  for (const topology::Gpu& gpu : topology.gpus) {
    for (const std::string_view word : split_whitespace(gpu.name)) {
      for (const Mark& mark : kMarks) {
        if (word.starts_with(mark.word)) return mark.generation;
      }
    }
  }
  return Generation::Unknown;
}

}  // namespace verl::nccl
