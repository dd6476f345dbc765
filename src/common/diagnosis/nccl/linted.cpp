#include "diagnosis/nccl/linted.h"

#include <utility>

#include "base/text.h"
#include "diagnosis/nccl/read_value.h"
#include "diagnosis/rule.h"

namespace verl::nccl {

using diagnosis::Evidence;
using diagnosis::Finding;

std::string_view meant_text(const EffectiveSetting& setting) {
  std::string_view text = setting.setting.value;
  if (setting.kind != EnvironmentKind::Conf) return text;
  if (text.ends_with('\r')) text.remove_suffix(1);
  const size_t comment = text.find(" #");
  return comment == std::string_view::npos ? text : trim(text.substr(0, comment));
}

Evidence evidence_of(const EffectiveSetting& setting) {
  Evidence evidence;
  evidence.source = setting.source;
  evidence.line = setting.line;
  evidence.text = shorten(escape_controls(setting.setting.name + "=" + setting.setting.value), diagnosis::kEvidenceBytes);
  return evidence;
}

Finding about(std::string_view id, const EffectiveSetting& setting, std::string message) {
  Finding finding = diagnosis::finding_of(id, setting.setting.name);
  finding.seen = shorten(escape_controls(setting.setting.value), diagnosis::kEvidenceBytes);
  finding.message = std::move(message);
  finding.evidence.push_back(evidence_of(setting));
  return finding;
}

std::string library(std::optional<Version> version) { return version ? "NCCL " + to_string(*version) : "NCCL"; }

bool is_number(const Effective& environment, std::string_view name, std::int64_t number) {
  const auto text = value_of(environment, name);
  return text && number_of(text) == number;
}

bool says_the_default(const Variable& variable, std::string_view text, std::optional<Version> version) {
  if (reads_as_integer(variable, version)) {
    const IntegerText read = read_integer(text);
    const auto standard = parse_int(standard_at(variable, version));
    return !read.number || (standard && *read.number == *standard) || (acts_on_one_only(variable.name) && *read.number != 1);
  }
  return text.empty() || equal_ignoring_case(text, standard_at(variable, version));
}

}  // namespace verl::nccl
