// One line after the other of a text, numbered, without its end, without terminal escapes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "diagnosis/finding.h"
#include "diagnosis/format.h"

namespace verl::topology {

// No tool of these writes longer lines; what is beyond is not looked at, so that one line cannot fill the memory.
constexpr std::size_t kLongestLine = 1024 * 1024;

class Lines {
 public:
  Lines(std::string_view text, const diagnosis::ReadOptions& options) : rest_(text), options_(options) {}

  bool next();                                    // false: there is no further line
  std::string_view line() const { return line_; }  // without line end and, when asked for, the comment prefix; valid until next()
  std::int64_t number() const { return number_; }
  diagnosis::Evidence evidence() const;           // this line of this document

 private:
  std::string_view rest_;
  const diagnosis::ReadOptions& options_;
  std::string_view line_{};
  std::string clean_{};
  std::int64_t number_{0};
};

// Without ESC[...m and what is left of it when the escape byte was lost: "^[[4m", "[4m".
std::string without_escapes(std::string_view text);

}  // namespace verl::topology
