// The small things that all readers of time tools share: numbered lines, "key: value", numbers and spans of time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "diagnosis/format.h"
#include "diagnosis/time/facts.h"

namespace verl::diagnosis::time_text {

struct Line {
  std::int64_t number{0};  // from 1
  std::string_view text{};  // without CR; blanks at the left stay
};

std::vector<Line> lines_of(std::string_view text, const ReadOptions& options);

// Blank, or a shell prompt and a command that somebody pasted along.
bool is_scenery(std::string_view line);

// Both trimmed; nothing without the separator.
std::optional<std::pair<std::string_view, std::string_view>> key_value(std::string_view line, char separator = ':');

// The whole text as a finite number, with or without sign.
std::optional<double> parse_real(std::string_view text);

// "-923us", "5.224ms", "8min 32s", "41.087733 seconds", "12m", "23" (seconds, or what `unit_s` says), in seconds.
std::optional<double> parse_span(std::string_view text, double unit_s = 1.0);

// "41.087733 s", "306.412 ms": for people and for `seen`.
std::string span_text(double seconds);

Evidence evidence_of(const Line& line, const ReadOptions& options);

// A line nobody took.
void unread(Reading& reading, const Line& line, std::string why);

// document-incomplete: what is missing of it.
void incomplete(Reading& reading, std::string subject, std::string message);

// Does any line of the head start with this text, blanks at the left aside?
bool has_line(std::string_view head, std::string_view start);

void put(Reading& reading, std::string name, Scalar value, std::string unit = {});

}  // namespace verl::diagnosis::time_text
