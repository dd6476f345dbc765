// Lines of conf files that NCCL reads otherwise than they look, values that lose, and files that are not read
// (src/misc/param.cc, src/os/linux.cc).
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "diagnosis/nccl/linted.h"

namespace verl::nccl {
namespace {

using diagnosis::Finding;
using diagnosis::Findings;
using diagnosis::Severity;

constexpr size_t kLongestPart = 1023;
constexpr Version kKeepsReturn = version(2, 30);      // releases before keep the carriage return
constexpr Version kKnowsComments = version(2, 26, 2);
constexpr Version kKnowsConfFile = version(2, 23);

void complain(const EffectiveSetting& setting, std::string message, std::string wanted, Findings& out, Severity severity = Severity::Error) {
  Finding finding = about("NCCL021", setting, std::move(message));
  finding.subject = std::string(trim(setting.setting.name.substr(setting.setting.name.starts_with("export ") ? 7 : 0)));
  finding.severity = severity;
  if (!wanted.empty()) finding.remedy = "write " + wanted;
  finding.wanted = std::move(wanted);
  out.push_back(std::move(finding));
}

void lint_line(const Linted& linted, const EffectiveSetting& setting, Findings& out) {
  const std::string_view name = setting.setting.name;
  const std::string_view value = setting.setting.value;
  const std::string clean_name(trim(name.substr(name.starts_with("export ") ? 7 : 0)));
  const std::string plain = clean_name + "=" + std::string(trim(meant_text(setting)));
  if (name.starts_with("export ")) {
    complain(setting, fmt::format("NCCL defines a variable called \"{}\": {} is not set", escape_controls(name), clean_name), plain, out);
  } else if (trim(name) != name) {
    complain(setting, fmt::format("the blank beside the name belongs to it: NCCL defines \"{}\", and {} is not set", escape_controls(name), clean_name), plain, out);
  }
  if (value.ends_with('\r') && (!linted.version || *linted.version < kKeepsReturn)) {
    complain(setting, fmt::format("the line ends in CR LF, and NCCL before 2.30 keeps the CR in the value of {}", clean_name), plain, out,
             linted.version ? Severity::Error : Severity::Warning);
  }
  if (const size_t comment = value.find(" #"); comment != std::string_view::npos) {
    complain(setting, fmt::format("there are no comments behind a value: \"{}\" is all value", shorten(escape_controls(value), 80)), plain, out);
  } else if (value.starts_with(' ') || value.starts_with('\t')) {
    complain(setting, fmt::format("the blank before the value of {} belongs to it", clean_name), plain, out);
  }
  if (name.size() > kLongestPart || value.size() > kLongestPart) {
    complain(setting, fmt::format("NCCL cuts names and values at {} bytes: this one has {}", kLongestPart, std::max(name.size(), value.size())), "", out);
  }
  if (clean_name == "NCCL_CONF_FILE") complain(setting, "NCCL_CONF_FILE has no effect inside a configuration file", "", out);
}

void lint_comments(const Linted& linted, Findings& out) {
  if (!linted.version || *linted.version >= kKnowsComments) return;
  for (const Environment& file : linted.node.nccl.environments) {
    if (file.kind != EnvironmentKind::Conf || file.comment.line == 0) continue;
    EffectiveSetting setting;
    setting.setting = file.comment.setting;
    setting.kind = file.kind;
    setting.source = file.comment.source;
    setting.line = file.comment.line;
    Finding finding = about("NCCL021", setting, fmt::format("{} knows no comments: the line defines a variable called \"{}\"", library(linted.version),
                                                            shorten(escape_controls(setting.setting.name), 80)));
    finding.severity = Severity::Warning;
    finding.remedy = "remove the comment, or use NCCL 2.26.2 or later";
    out.push_back(std::move(finding));
  }
}

void lint_overridden(const Linted& linted, Findings& out) {
  for (const Overridden& one : linted.environment.overridden) {
    Finding finding = about("NCCL022", one.winner,
                            fmt::format("{} has two values: {} counts, {} has no effect", one.winner.setting.name, shorten(escape_controls(one.winner.setting.value), 80),
                                        shorten(escape_controls(one.loser.setting.value), 80)));
    finding.evidence.push_back(evidence_of(one.loser));
    out.push_back(std::move(finding));
  }
}

void lint_conf_file(const Linted& linted, Findings& out) {
  const EffectiveSetting* setting = setting_named(linted.environment, "NCCL_CONF_FILE");
  if (!setting || setting->kind == EnvironmentKind::Conf || setting->setting.value.empty()) return;
  const std::string& path = setting->setting.value;
  const auto file = linted.node.nccl.host.files.find(path);
  if (linted.version && *linted.version < kKnowsConfFile) {
    out.push_back(about("NCCL023", *setting, library(linted.version) + " does not know NCCL_CONF_FILE: the file is not read"));
  } else if (path.starts_with('~') || path.find('$') != std::string::npos) {
    out.push_back(about("NCCL023", *setting, fmt::format("NCCL expands nothing: it looks for a file called {}", escape_controls(path))));
  } else if (file != linted.node.nccl.host.files.end() && file->second.present == false) {
    out.push_back(about("NCCL023", *setting, fmt::format("there is no file {}, and NCCL does not say so", escape_controls(path))));
  }
}

}  // namespace

void lint_files(const Linted& linted, Findings& out) {
  for (const EffectiveSetting& setting : linted.environment.settings) {
    if (setting.kind == EnvironmentKind::Conf) lint_line(linted, setting, out);
  }
  lint_comments(linted, out);
  lint_overridden(linted, out);
  lint_conf_file(linted, out);
}

}  // namespace verl::nccl
