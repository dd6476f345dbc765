// PyTorch's watchdog says on every rank in which collective it stood: the rank that stands behind the others is the one to look at.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "diagnosis/log/events.h"
#include "diagnosis/log/line.h"
#include "diagnosis/reading.h"

namespace verl::log {

class TorchRun {
 public:
  void note(const Line& line);  // a line of the watchdog
  void finish(Events& events, diagnosis::Reading& reading) const;

 private:
  struct At {
    std::int64_t sequence{0};
    std::string operation{};
    std::int64_t line{0};
    std::string text{};
  };
  // By process group ("" where none is printed), then by rank.
  std::map<std::string, std::map<std::int64_t, At>> groups_{};
  std::size_t ranks_{0};
};

}  // namespace verl::log
