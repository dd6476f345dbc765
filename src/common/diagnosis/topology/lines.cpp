#include "diagnosis/topology/lines.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace verl::topology {
namespace {

// Length of a colour or underline sequence at the start of the text; 0: none.
size_t escape_length(std::string_view text) {
  constexpr size_t kMost = 16;
  constexpr std::array<std::string_view, 3> kStarts{"\x1b[", "^[[", "["};
  for (const std::string_view start : kStarts) {
    if (!text.starts_with(start)) continue;
    size_t end = start.size();
    while (end < text.size() && end < kMost && ((text[end] >= '0' && text[end] <= '9') || text[end] == ';')) ++end;
    if (end < text.size() && text[end] == 'm') return end + 1;
    if (start.front() == '\x1b' && end < text.size()) return end + 1;
  }
  return 0;
}

}  // namespace

std::string without_escapes(std::string_view text) {
  std::string clean;
  clean.reserve(text.size());
  while (!text.empty()) {
    const size_t skip = text.front() == '\x1b' || text.front() == '^' || text.front() == '[' ? escape_length(text) : 0;
    if (skip == 0) clean += text.front();
    text.remove_prefix(skip == 0 ? 1 : skip);
  }
  return clean;
}

bool Lines::next() {
  if (rest_.empty()) return false;
  const size_t end = rest_.find('\n');
  line_ = rest_.substr(0, std::min(end, kLongestLine));
  rest_ = end == std::string_view::npos ? std::string_view{} : rest_.substr(end + 1);
  ++number_;
  while (line_.ends_with('\r')) line_.remove_suffix(1);
  if (options_.strip_comment_prefix && line_.starts_with('#')) {
    line_.remove_prefix(1);
    if (line_.starts_with(' ')) line_.remove_prefix(1);
  }
  if (line_.find('\x1b') != std::string_view::npos || line_.find("[4m") != std::string_view::npos || line_.find("[0m") != std::string_view::npos) {
    clean_ = without_escapes(line_);
    line_ = clean_;
  }
  return true;
}

diagnosis::Evidence Lines::evidence() const {
  return {.source = options_.name, .line = number_, .text = shorten(line_, diagnosis::kEvidenceBytes)};
}

}  // namespace verl::topology
