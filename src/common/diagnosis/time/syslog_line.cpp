#include "diagnosis/time/syslog_line.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"

namespace verl::diagnosis::time_text {
namespace {

std::string_view take_word(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  const std::string_view word = rest.substr(0, rest.find(' '));
  rest.remove_prefix(word.size());
  return word;
}

bool has_digit(std::string_view word) { return std::any_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c) != 0; }); }

// "chronyd[2211]:", "ptp4l:", "systemd-timesyncd[611]:"
bool is_program(std::string_view word) {
  if (!word.ends_with(':') || word.size() < 4) return false;
  word.remove_suffix(1);
  const size_t open = word.find('[');
  const std::string_view name = word.substr(0, open);
  if (name.empty() || !std::isalpha(static_cast<unsigned char>(name.front()))) return false;
  if (open != std::string_view::npos && !word.ends_with(']')) return false;
  return std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.' || c == '/'; });
}

bool is_month(std::string_view word) {
  constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  return word.size() == 3 && kMonths.find(word) % 3 == 0;
}

// Words that make up the date and time at the start of the line.
size_t length_of_time(std::string_view line) {
  std::string_view rest = line;
  const std::string_view first = take_word(rest);
  if (is_month(first)) {
    take_word(rest);
    const std::string_view time = take_word(rest);
    if (time.find(':') == std::string_view::npos) return 0;
    return line.size() - rest.size();
  }
  const bool date = first.size() >= 10 && std::isdigit(static_cast<unsigned char>(first.front())) && std::count(first.begin(), first.end(), '-') >= 2;
  if (!date) return 0;
  size_t length = line.size() - rest.size();
  if (first.find(':') != std::string_view::npos) return length;
  const std::string_view time = take_word(rest);
  if (time.find(':') == std::string_view::npos || !has_digit(time)) return length;
  return line.size() - rest.size();
}

}  // namespace

SyslogLine syslog_line(std::string_view line) {
  SyslogLine out;
  line = trim(line);
  if (line.starts_with('<') && line.find('>') < 6) line.remove_prefix(line.find('>') + 1);
  const size_t length = length_of_time(line);
  out.when = trim(line.substr(0, length));
  std::string_view rest = line.substr(length);
  std::string_view after = rest;
  const std::string_view first = take_word(after);
  if (is_program(first)) {
    out.program = first;
    rest = after;
  } else if (!out.when.empty()) {
    std::string_view after_host = after;
    const std::string_view second = take_word(after_host);
    if (is_program(second)) {
      out.host = first;
      out.program = second;
      rest = after_host;
    }
  }
  if (!out.program.empty()) {
    out.program.remove_suffix(1);
    out.program = out.program.substr(0, out.program.find('['));
    if (const size_t slash = out.program.rfind('/'); slash != std::string_view::npos) out.program.remove_prefix(slash + 1);
  }
  out.message = trim(rest);
  return out;
}

}  // namespace verl::diagnosis::time_text
