#include "telemetry/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "base/text.h"
#include "base/time.h"

namespace verl::telemetry {
namespace {

spdlog::logger& logger() {
  static spdlog::logger kLogger = [] {
    spdlog::logger made("verl", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made.set_pattern("%v");
    made.flush_on(spdlog::level::trace);
    return made;
  }();
  return kLogger;
}

spdlog::level::level_enum native(Level level) {
  switch (level) {
    case Level::Debug: return spdlog::level::debug;
    case Level::Info: return spdlog::level::info;
    case Level::Warn: return spdlog::level::warn;
    case Level::Error: return spdlog::level::err;
  }
  return spdlog::level::err;
}

void append_string(std::string& line, std::string_view text) {
  line += '"';
  for (const char c : escape_controls(text)) {
    if (c == '"' || c == '\\') line += '\\';
    line += c;
  }
  line += '"';
}

std::string_view word(Level level) {
  switch (level) {
    case Level::Debug: return "debug";
    case Level::Info: return "info";
    case Level::Warn: return "warn";
    case Level::Error: return "error";
  }
  return "error";
}

}  // namespace

void log(Level level, std::string_view message, std::initializer_list<Field> fields) {
  if (!logger().should_log(native(level))) return;
  std::string line = "{\"time\":\"" + format_rfc3339(SystemClock{}.now(), true) + "\",\"level\":\"" + std::string(word(level)) + "\",\"msg\":";
  append_string(line, message);
  for (const auto& [name, value] : fields) {
    line += ',';
    append_string(line, name);
    line += ':';
    append_string(line, value);
  }
  line += '}';
  logger().log(native(level), line);
}

void set_level(Level level) { logger().set_level(native(level)); }

}  // namespace verl::telemetry
