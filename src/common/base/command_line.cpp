#include "base/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <numeric>

#include "base/text.h"

namespace verl {
namespace {

// How many letters must be put in, taken out or changed.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t above = row[j + 1];
      row[j + 1] = std::min({above + 1, row[j] + 1, diagonal + (a[i] == b[j] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

}  // namespace

std::string nearest_word(std::string_view word, const std::vector<std::string>& known) {
  constexpr size_t kLongest = 64;
  if (word.size() > kLongest) return {};
  std::string best;
  size_t least = word.size() / 3 + 1;
  for (const std::string& one : known) {
    const size_t far = distance(word, one);
    const bool begun = word.size() >= 3 && one.starts_with(word);
    if (far > least || (far == least && !best.empty())) {
      if (!begun || !best.empty()) continue;
    }
    least = std::min(far, least);
    best = one;
  }
  return best;
}

std::string unknown_word(std::string_view word, std::string_view command, const std::vector<std::string>& commands, const std::vector<std::string>& options) {
  const std::string shown = shorten(escape_controls(word), 80);
  const bool option = word.starts_with('-');
  if (!option && commands.empty()) return fmt::format("\"{}\" is not expected after {}; {} --help says what is", shown, command, command);
  const std::string name = option ? std::string(word.substr(0, word.find('='))) : std::string(word);
  const std::string near = nearest_word(name, option ? options : commands);
  const std::string text = fmt::format("\"{}\" is no {} of {}", shown, option ? "option" : "command", command);
  if (!near.empty()) return fmt::format("{}; did you mean {}?", text, near);
  return option ? fmt::format("{}; {} --help lists them", text, command) : fmt::format("{}; there are {}", text, join(commands, ", "));
}

int code_after_output(std::string_view program, int code) {
  errno = 0;
  std::cout.flush();
  const bool flushed = std::fflush(stdout) == 0;
  if (flushed && std::cout && std::ferror(stdout) == 0) return code;
  const std::string why = errno == 0 ? "" : fmt::format(": {}", std::strerror(errno));
  std::cerr << program << ": the output could not be written whole" << why << "\n";
  return 1;
}

}  // namespace verl
