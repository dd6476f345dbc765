// One line of a log taken apart: who wrote it, at which level, the message. What launchers, container runtimes, Ray and
// terminals put around a line is removed here; what the message means is decided elsewhere.
// Grammar of NCCL: NCCL src/debug.cc, 2.3 to 2.32; a level is any upper-case word.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace verl::log {

// All views point into the text given to parse_line().
struct Line {
  std::int64_t number{0};
  std::string_view text{};     // the record as it stands, for evidence
  std::string_view host{};     // as NCCL prints it; empty: not said
  std::int64_t pid{-1};
  std::int64_t tid{-1};
  std::int32_t device{-1};     // CUDA device, never a rank
  std::int32_t rank{-1};       // from a launcher's tag: "[1,9]<stdout>:", "[88] ", "7: ", "[rank3]:"
  std::string_view actor{};    // Ray's actor: "WorkerDict"
  std::string_view ip{};       // and its node
  std::int64_t times{1};       // Ray printed one line for so many
  std::string_view level{};    // "INFO", "WARN", …; empty: not a line of NCCL
  std::string_view where{};    // "transport/net_ib.cc:93"
  std::string_view time{};     // "2026-03-11 22:17:03"
  std::string_view message{};
  bool torn{false};            // another writer's text stands before it in the same line
};

constexpr std::size_t kRecordsPerLine = 8;

struct Records {
  std::array<Line, kRecordsPerLine> lines{};
  std::size_t count{0};
  bool more{false};  // the line has more records than are kept
};

// The text without terminal escapes; `scratch` is only written when there are some.
std::string_view without_escapes(std::string_view text, std::string& scratch);

// One record, or several when two writers share a line. A blank line gives none. `text` has no escapes.
void parse_line(std::string_view text, std::int64_t number, Records& out);

// "NET/IB : No device found." of a whole record; the text itself when it has no header.
std::string_view without_header(std::string_view text);

}  // namespace verl::log
