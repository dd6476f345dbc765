// Matching requests against a script, and the small makers of answers.
#pragma once

#include <mutex>
#include <optional>
#include <vector>

#include "tests/scripted-server/scripted_server.h"

namespace verl::scripted {

std::string describe(const Seen& seen);

class Script final {
 public:
  void add(Expectation expectation);
  std::optional<Answer> answer(const Seen& seen);  // records `seen`; nullopt when no expectation takes it
  std::vector<Seen> seen() const;
  std::vector<std::string> unused() const;

 private:
  struct Line {
    Expectation expectation{};
    int used{0};
  };
  mutable std::mutex mutex_{};
  std::vector<Line> lines_{};
  std::vector<Seen> seen_{};
};

}  // namespace verl::scripted
