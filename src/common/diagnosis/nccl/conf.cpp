#include "diagnosis/nccl/conf.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace verl::nccl {
namespace {

constexpr size_t kLongestPart = 1023;  // NCCL up to 2.29 cuts names and values here

void complain_about(const Setting& setting, int line, std::vector<ConfComplaint>& complaints) {
  const auto add = [&](std::string what) { complaints.push_back({.line = line, .what = std::move(what)}); };
  const std::string name = escape_controls(setting.name);
  if (setting.name.starts_with("export ")) {
    add(fmt::format("\"export\" becomes part of the name: NCCL defines a variable called \"{}\"", name));
  } else if (trim(setting.name) != setting.name) {
    add(fmt::format("blanks beside the name stay in it: NCCL defines a variable called \"{}\"", name));
  }
  if (setting.value.ends_with('\r')) {
    add(fmt::format("{}: the line ends in CR LF, and NCCL before 2.30 keeps the CR in the value", name));
  } else if (trim(setting.value) != setting.value) {
    add(fmt::format("{}: blanks beside the value stay in it", name));
  }
  if (setting.value.size() >= 2 && (setting.value.front() == '"' || setting.value.front() == '\'')) {
    add(fmt::format("{}: quotes stay in the value", name));
  }
  if (setting.value.find(" #") != std::string::npos) add(fmt::format("{}: a comment after a value stays in it", name));
  if (setting.name.size() > kLongestPart || setting.value.size() > kLongestPart) {
    add(fmt::format("{}: NCCL cuts names and values at {} bytes", shorten(name, 40), kLongestPart));
  }
  if (setting.name == "NCCL_CONF_FILE") add("NCCL_CONF_FILE has no effect inside a configuration file");
}

}  // namespace

Conf parse_conf(std::string_view text) {
  Conf conf;
  int number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (line.empty() || line.front() == '#') continue;
    const size_t equals = line.find('=');
    if (equals == std::string_view::npos) {
      if (!trim(line).empty()) conf.complaints.push_back({.line = number, .what = "no \"=\": NCCL skips this line"});
      continue;
    }
    Setting setting{.name = std::string(line.substr(0, equals)), .value = std::string(line.substr(equals + 1))};
    complain_about(setting, number, conf.complaints);
    const bool repeated = std::any_of(conf.settings.begin(), conf.settings.end(),
                                      [&](const Setting& earlier) { return earlier.name == setting.name; });
    if (repeated) {
      conf.complaints.push_back({.line = number, .what = fmt::format("{} is set above already: the first line wins", escape_controls(setting.name))});
      continue;
    }
    conf.settings.push_back(std::move(setting));
  }
  return conf;
}

}  // namespace verl::nccl
