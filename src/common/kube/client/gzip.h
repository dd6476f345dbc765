// Unpacks a gzip answer piece by piece, within limits, so that a small answer cannot become a large one.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"

namespace verl::kube {

class GzipReader final {
 public:
  explicit GzipReader(Bytes most_output);
  ~GzipReader();
  GzipReader(const GzipReader&) = delete;
  GzipReader& operator=(const GzipReader&) = delete;

  // Appends what could be unpacked. TooLarge beyond the limit, or beyond 250 times the input once that is more than a
  // mebibyte (lists of near-equal objects pack 70:1); Unavailable for broken input.
  Result<bool> add(std::string_view packed, std::string& out);
  bool complete() const;  // the trailer was seen and its checksum was right

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace verl::kube
