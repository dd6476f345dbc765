#include "diagnosis/nccl/conf_text.h"

#include <string>

#include "base/text.h"
#include "diagnosis/nccl/recorded.h"

namespace verl::nccl {

// An env file may look the same; comments and nothing but NCCL's names speak for a conf file.
int conf_likeness(std::string_view head) {
  int own = 0;
  int comments = 0;
  bool named = false;
  if (head.size() >= diagnosis::kLikenessBytes) head = head.substr(0, head.rfind('\n') + 1);
  for (const std::string_view line : split(head, '\n')) {
    if (trim(line).empty()) continue;
    if (line.starts_with("#!")) return 0;
    if (line.starts_with('#')) {
      ++comments;
      named = named || line.find("nccl.conf") != std::string_view::npos;
    } else if (line.starts_with("NCCL_") && line.find('=') != std::string_view::npos) {
      ++own;
    } else {
      return 0;
    }
  }
  if (own == 0) return 0;
  return named ? 95 : comments > 0 ? 88 : 55;
}

Result<diagnosis::Reading> read_conf(std::string_view text, const diagnosis::ReadOptions& options) {
  if (text.find('\0') != std::string_view::npos) return failure(ErrorCode::Invalid, "it holds NUL bytes: not a text file");
  diagnosis::Reading reading;
  Recorder recorder(reading, options, EnvironmentKind::Conf);
  std::int64_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    const size_t equals = line.find('=');
    if (trim(line).empty()) continue;
    if (line.front() == '#') {
      if (equals != std::string_view::npos) recorder.add_comment({.name = shorten(line.substr(0, equals), 200), .value = {}}, number);
      continue;
    }
    if (equals == std::string_view::npos) {
      add_unread(reading, {.line = number, .text = {}, .why = "no \"=\": NCCL skips this line"});
      continue;
    }
    // The name stays as NCCL defines it; whether it concerns anything is asked of the name that was meant.
    Setting setting{.name = std::string(line.substr(0, equals)), .value = std::string(line.substr(equals + 1))};
    const std::string meant(trim(std::string_view(setting.name).substr(setting.name.starts_with("export ") ? 7 : 0)));
    recorder.add_as(meant, "", std::move(setting), number);
  }
  recorder.finish();
  return reading;
}

}  // namespace verl::nccl
