// Log lines: one JSON object a line on standard error, so that a cluster's collector needs no pattern.
// Secrets are kept out by not passing them here; values are escaped, so that a node's words cannot forge a line.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace verl::telemetry {

enum class Level { Debug, Info, Warn, Error };

using Field = std::pair<std::string_view, std::string>;

// {"time":"…","level":"info","msg":"placed","job":"rl/qwen"}
void log(Level level, std::string_view message, std::initializer_list<Field> fields = {});

// Lines below this level are dropped; Info at start. Not thread-safe: for main, before threads start.
void set_level(Level level);

}  // namespace verl::telemetry
