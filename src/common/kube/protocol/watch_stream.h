// Framing of a watch: bytes become lines, a line becomes an event type and the text of its object.
// What an event means for the cache is decided by reflector_step.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/units.h"

namespace verl::kube {

// Cuts a stream into lines. Pieces may end anywhere, inside a UTF-8 sequence too.
class LineBuffer final {
 public:
  explicit LineBuffer(Bytes max_line) : max_line_(max_line) {}

  // Calls on_line for each line that is now complete, without its line end; empty lines are skipped. The view has
  // kJsonPadding readable bytes past its end and is valid during the call only. on_line returns false to stop.
  // Returns whether to go on; Error (TooLarge) when a line is longer than the cap, after the lines before it.
  Result<bool> feed(std::string_view bytes, const std::function<bool(std::string_view line)>& on_line);

  std::size_t pending() const { return buffer_.size(); }  // bytes of the line not yet complete

 private:
  Bytes max_line_;
  std::string buffer_{};
};

enum class WatchType { Added, Modified, Deleted, Bookmark, Error, Other };

std::string_view to_string(WatchType type);

struct WatchLine {
  WatchType type{WatchType::Other};
  std::string type_text{};          // as sent, for the log
  std::string_view object_json{};   // a view into the line, padded as the line is; empty when there is none
};

// Error (Invalid) when the line is not one JSON object. Needs kJsonPadding readable bytes past the end.
Result<WatchLine> parse_watch_line(std::string_view padded_line);

}  // namespace verl::kube
