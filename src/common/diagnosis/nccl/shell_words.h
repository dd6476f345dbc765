// The settings in lines a shell would run: assignments, export, and the options by which launchers hand variables on.
// Expansions ($X, `x`) are not followed: such a value is told as not known.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace verl::nccl {

// Words as a POSIX shell splits them, quotes and backslashes taken off. An operator (";", "&&", "|") is a word of its own.
struct ShellWord {
  std::string text{};
  bool expands{false};   // holds an expansion outside single quotes
  bool is_operator{false};
  bool operator==(const ShellWord&) const = default;
};

std::vector<ShellWord> shell_words(std::string_view line);

struct ShellSetting {
  std::string name{};
  std::optional<std::string> value{};  // nothing: from elsewhere (mpirun -x NAME), or by an expansion
  bool operator==(const ShellSetting&) const = default;
};

// VAR=value cmd, export/declare -x/setenv/env, mpirun -x, mpiexec -genv and -env, docker -e/--env, srun --export, and
// Hydra's env_vars.NAME=value. In their order; a later one of the same name counts.
std::vector<ShellSetting> shell_settings(std::string_view line);

bool is_variable_name(std::string_view text);  // [A-Za-z_][A-Za-z0-9_]*

}  // namespace verl::nccl
