#include "diagnosis/nccl/environment_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/text.h"
#include "diagnosis/nccl/recorded.h"
#include "diagnosis/nccl/settings.h"
#include "diagnosis/nccl/shell_words.h"

namespace verl::nccl {
namespace {

using diagnosis::Reading;
using diagnosis::ReadOptions;

struct Line {
  std::int64_t number{0};
  std::string text{};  // with its continuations
};

bool is_comment(std::string_view line) { return trim(line).starts_with('#'); }

// A line ending in a backslash goes on in the next one, as in a shell.
std::vector<Line> logical_lines(std::string_view text) {
  std::vector<Line> lines;
  std::int64_t number = 0;
  bool goes_on = false;
  for (std::string_view line : split(text, '\n')) {
    ++number;
    if (!goes_on) lines.push_back({.number = number, .text = {}});
    std::string_view kept = line;
    if (kept.ends_with('\r')) kept.remove_suffix(1);
    goes_on = kept.ends_with('\\') && !is_comment(kept);
    if (goes_on) kept.remove_suffix(1); else kept = line;
    lines.back().text += goes_on ? std::string(kept) + " " : std::string(kept);
  }
  return lines;
}

struct PlainLine {
  std::string node{};  // pdsh and clush write it in front: "node-a: NAME=VALUE"
  std::string_view name{};
  std::string_view value{};
};

// The name of an exported bash function is no name of a variable: BASH_FUNC_x%%=() { ...
bool is_environment_name(std::string_view text) {
  return !text.empty() && std::none_of(text.begin(), text.end(), [](char c) { return c <= ' ' || c == '"' || c == '\'' || c == ':' || c == '{' || c == '}' || c == ',' || c == '`'; });
}

std::optional<PlainLine> plain_line(std::string_view line) {
  PlainLine plain;
  line = line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
  const size_t equals = line.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  const size_t colon = line.substr(0, equals).find(": ");
  if (colon != std::string_view::npos && colon > 0 && is_variable_name(line.substr(colon + 2, equals - colon - 2)) &&
      line.substr(0, colon).find_first_of(" \t\"'{[") == std::string_view::npos) {
    plain.node = line.substr(0, colon);
    plain.name = line.substr(colon + 2, equals - colon - 2);
  } else {
    plain.name = line.substr(0, equals);
  }
  plain.value = line.substr(equals + 1);
  return is_environment_name(plain.name) ? std::optional{plain} : std::nullopt;
}

bool starts_as_shell(std::string_view line) {
  line = line.substr(std::min(line.find_first_not_of(" \t"), line.size()));
  for (const std::string_view word : {"export ", "declare -x ", "typeset -x ", "setenv ", "#!"}) {
    if (line.starts_with(word)) return true;
  }
  return false;
}

bool is_capital_name(std::string_view name) {
  return is_variable_name(name) && std::none_of(name.begin(), name.end(), [](char c) { return c >= 'a' && c <= 'z'; });
}

bool is_launcher(std::string_view word) {
  constexpr std::array<std::string_view, 16> kWords{"python", "python3", "torchrun", "mpirun", "mpiexec", "srun",      "ray",       "bash",
                                                    "sh",     "docker",  "podman",   "env",    "sudo",    "deepspeed", "accelerate", "numactl"};
  return word.starts_with('/') || word.starts_with("./") || std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

// A command that is given variables. A line that begins with NAME= may just as well be a value with blanks ("NCCL_NET=AWS Libfabric"):
// there the command has to be one that starts programs.
bool is_command(std::string_view line) {
  const auto plain = plain_line(line);
  if (plain && (!plain->node.empty() || line.find(' ') == std::string_view::npos)) return false;
  const auto words = shell_words(line);
  const auto first = std::find_if(words.begin(), words.end(), [](const ShellWord& one) {
    const size_t equals = one.text.find('=');
    return !one.is_operator && (equals == std::string::npos || !is_variable_name(std::string_view(one.text).substr(0, equals)));
  });
  if (first == words.end() || words.size() < 2 || (first != words.begin() && !is_launcher(first->text))) return false;
  const auto settings = shell_settings(line);
  return std::any_of(settings.begin(), settings.end(), [](const ShellSetting& one) { return concerns_communication(one.name); });
}

struct Count {
  int lines{0};         // neither blank nor comment
  int assignments{0};   // NAME=VALUE with a capital name
  int communication{0};
  int shell{0};         // export and its like
  int commands{0};
};

constexpr size_t kLongestLine = 16384;  // longer ones are read as they are, never looked at for style

Count count(std::string_view text) {
  Count result;
  for (const Line& line : logical_lines(text)) {
    if (trim(line.text).empty()) continue;
    if (line.text.starts_with("#!") || (starts_as_shell(line.text) && !is_comment(line.text))) ++result.shell;
    if (is_comment(line.text)) continue;
    ++result.lines;
    const auto plain = plain_line(line.text);
    if (plain && is_capital_name(plain->name)) {
      ++result.assignments;
      if (concerns_communication(plain->name)) ++result.communication;
    }
    if (line.text.size() < kLongestLine && line.text.find('=') != std::string::npos && is_command(line.text)) ++result.commands;
  }
  return result;
}

// The part of a head that holds whole lines.
std::string_view whole_lines(std::string_view head) {
  if (head.size() < diagnosis::kLikenessBytes) return head;
  return head.substr(0, head.rfind('\n') + 1);
}

void read_process(std::string_view text, Recorder& recorder, Reading& reading) {
  std::int64_t number = 0;
  for (const std::string_view part : split(text, '\0')) {
    ++number;
    if (trim(part).empty()) continue;
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos) {
      add_unread(reading, {.line = number, .text = fmt::format("({} bytes, not shown)", part.size()), .why = "no \"=\": not a variable"});
      continue;
    }
    recorder.add("", {.name = std::string(part.substr(0, equals)), .value = std::string(part.substr(equals + 1))}, number);
  }
}

void read_shell(std::string_view text, Recorder& recorder, Reading& reading) {
  std::int64_t without = 0;
  for (const Line& line : logical_lines(text)) {
    if (trim(line.text).empty() || is_comment(line.text)) continue;
    const auto settings = shell_settings(line.text);
    if (settings.empty()) ++without;
    for (const ShellSetting& one : settings) {
      if (one.value) {
        recorder.add("", {.name = one.name, .value = *one.value}, line.number);
      } else {
        recorder.add_unknown(one.name, line.number);
      }
    }
  }
  if (without > 0) reading.skipped.push_back(fmt::format("{} lines of commands that set nothing", without));
}

void read_lines(std::string_view text, Recorder& recorder, Reading& reading) {
  std::int64_t number = 0;
  bool inside = false;  // a value of several lines is under way
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (trim(line).empty() || (is_comment(line) && !inside)) continue;
    if (const auto plain = plain_line(line)) {
      recorder.add(plain->node, {.name = std::string(plain->name), .value = std::string(plain->value)}, number);
      inside = true;
      continue;
    }
    const std::string_view name = trim(line);
    if (is_capital_name(name) && concerns_communication(name)) {
      recorder.add_unknown(name, number);  // docker takes the value from its own environment
      continue;
    }
    // It may be part of a secret of several lines.
    add_unread(reading, {.line = number, .text = fmt::format("({} bytes, not shown)", line.size()), .why = "not NAME=VALUE: part of the value above, or damaged"});
  }
}

// What only a running process's environment has.
bool is_process(std::string_view text) {
  const auto has = [&](std::string_view name) { return text.starts_with(name) || text.find("\n" + std::string(name)) != std::string_view::npos; };
  return has("PATH=") && (has("HOME=") || has("PWD=") || has("HOSTNAME="));
}

}  // namespace

int environment_likeness(std::string_view head) {
  if (head.find('\0') != std::string_view::npos) {
    const auto parts = split(head, '\0');
    const auto assignments = std::count_if(parts.begin(), parts.end(), [](std::string_view part) {
      const size_t equals = part.find('=');
      return equals != std::string_view::npos && is_environment_name(part.substr(0, equals));
    });
    return assignments > 0 && static_cast<size_t>(assignments) * 10 >= (parts.size() - 1) * 8 ? 95 : 0;
  }
  const Count found = count(whole_lines(head));
  if (found.lines == 0) return 0;
  const auto most = [&](int lines, int percent) { return lines * 100 >= found.lines * percent; };
  if (found.communication > 0 && most(found.assignments, 80)) return 85;
  if (found.communication > 0 && most(found.assignments, 50)) return 70;
  if (found.commands > 0 && most(found.commands + found.shell, 50)) return found.shell > 0 ? 75 : 70;
  if (found.shell > 0 && most(found.shell + found.assignments, 30)) return 60;
  if (most(found.assignments, 95)) return 30;
  return 0;
}

Result<Reading> read_environment(std::string_view text, const ReadOptions& options) {
  Reading reading;
  const bool nul = text.find('\0') != std::string_view::npos;
  const std::string_view head = text.substr(0, diagnosis::kLikenessBytes);
  const Count found = nul ? Count{} : count(whole_lines(head));
  const bool process = nul || (found.shell == 0 && is_process(head));
  const bool shell = !process && (found.shell > 0 || found.commands * 2 >= std::max(found.lines, 1));
  if (!nul && found.lines == 0 && trim(text).empty()) return failure(ErrorCode::Invalid, "there is no line in it");
  Recorder recorder(reading, options, process ? EnvironmentKind::Process : EnvironmentKind::EnvFile);
  if (nul) {
    read_process(text, recorder, reading);
  } else if (shell) {
    read_shell(text, recorder, reading);
  } else {
    read_lines(text, recorder, reading);
  }
  recorder.finish();
  return reading;
}

}  // namespace verl::nccl
