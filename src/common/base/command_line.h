// What a program says of its command line and of its output where the parser has no words for it. Knows no parser: the mains do.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace verl {

// The nearest of `known`, or nothing when none is near enough to have been meant.
std::string nearest_word(std::string_view word, const std::vector<std::string>& known);

// `"reprot" is no command of kubectl-verl; did you mean report?`; `command` is the program or the command that was being read.
std::string unknown_word(std::string_view word, std::string_view command, const std::vector<std::string>& commands, const std::vector<std::string>& options);

// The sentence about the first word that nobody knows, empty when all are known. A parser that finds a required word missing says so
// first, and what was misspelt then looks as if it had not been given. `App` is CLI::App after a parse that failed.
template <class App>
std::string unknown_argument(const App& app, std::string_view program) {
  const auto left = app.remaining(true);
  if (left.empty()) return {};
  const auto chosen = app.get_subcommands();
  const App& command = chosen.empty() ? app : *chosen.front();
  std::vector<std::string> commands;
  for (const auto* one : command.get_subcommands([](const App*) { return true; })) commands.push_back(one->get_name());
  std::vector<std::string> options;
  for (const auto* one : command.get_options()) {
    for (const std::string& name : one->get_lnames()) options.push_back("--" + name);
  }
  return unknown_word(left.front(), chosen.empty() ? std::string(program) : command.get_name(), commands, options);
}

// To be asked at the end, since a full disk shows when the text leaves the buffer: `code`, or 1 with a sentence on standard error when
// standard output did not take everything.
int code_after_output(std::string_view program, int code);

}  // namespace verl
