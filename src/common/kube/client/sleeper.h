// Waiting between attempts, so that tests wait on no clock of the wall.
#pragma once

#include <chrono>
#include <stop_token>

namespace verl::kube {

class Sleeper {
 public:
  virtual ~Sleeper() = default;
  virtual bool wait(std::chrono::milliseconds time, std::stop_token stop) = 0;  // false: stopped meanwhile
};

class SystemSleeper final : public Sleeper {
 public:
  bool wait(std::chrono::milliseconds time, std::stop_token stop) override;
};

}  // namespace verl::kube
