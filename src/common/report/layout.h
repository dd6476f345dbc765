// Text for terminals: marks, widths, and what must not reach a terminal as it is.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/finding.h"

namespace verl::report {

struct Style {
  bool ascii{false};   // nothing beyond ASCII
  bool colour{false};  // the caller knows whether this is a terminal and whether NO_COLOR is set
  bool all{false};     // nothing is left out for length
  bool operator==(const Style&) const = default;
};

constexpr size_t kWidth = 80;  // where the right column ends

// "√", "‼", "×", "?", "-", or "ok", "!!", "XX", "??", "--".
std::string mark(Verdict verdict, const Style& style);

// Text from nodes, logs and objects: control characters, bidirectional and zero-width ones become \x.. or \u{....}; with
// `ascii` every other character beyond ASCII too, except a few signs that have an ASCII spelling.
std::string shown(std::string_view text, const Style& style);

// Columns a terminal gives this text. `text` is what shown() returned.
size_t display_width(std::string_view text);

std::string pad(std::string text, size_t width);  // on the right, to a display width

// `left` and `right` at both ends of a line of kWidth, two spaces apart at least; no blanks at the end.
std::string line_of(const std::string& left, const std::string& right);

// A heading, underlined as long as its title.
std::string heading(const std::string& title, const std::string& right);

std::string plural(long long count, std::string_view one);  // "1 error", "2 errors"

}  // namespace verl::report
