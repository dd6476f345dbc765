// Cuts text that arrives in pieces into lines, with constant memory: a line longer than kLineBytes is cut and counted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace verl::log {

constexpr std::size_t kLineBytes = 8192;

class LineCutter {
 public:
  // Calls line(number, text) for each whole line; the text is valid during the call, without its end of line.
  template <class F>
  void feed(std::string_view piece, F&& line) {
    while (!piece.empty()) {
      const std::size_t end = piece.find('\n');
      if (end == std::string_view::npos) {
        keep(piece);
        return;
      }
      if (rest_.empty() && !cutting_) {
        line(++number_, shown(piece.substr(0, end)));
      } else {
        keep(piece.substr(0, end));
        line(++number_, shown(rest_));
        rest_.clear();
        cutting_ = false;
      }
      piece.remove_prefix(end + 1);
    }
  }

  // The last line, when the text does not end with an end of line.
  template <class F>
  void finish(F&& line) {
    if (rest_.empty()) return;
    line(++number_, shown(rest_));
    rest_.clear();
    cutting_ = false;
  }

  std::int64_t cut() const { return cut_; }  // lines of which only the first kLineBytes were read

 private:
  void keep(std::string_view piece) {
    const std::size_t room = kLineBytes + 1 - rest_.size();  // one more than is shown, so that shown() can tell
    if (piece.size() > room) cutting_ = true;
    rest_.append(piece.substr(0, room));
  }

  std::string_view shown(std::string_view text) {
    if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
    if (text.size() <= kLineBytes) return text;
    ++cut_;
    return text.substr(0, kLineBytes);
  }

  std::string rest_{};
  bool cutting_{false};
  std::int64_t number_{0};
  std::int64_t cut_{0};
};

}  // namespace verl::log
