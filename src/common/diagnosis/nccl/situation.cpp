#include "diagnosis/nccl/situation.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>

#include "base/text.h"
#include "diagnosis/rule.h"

namespace verl::nccl {

std::optional<std::string> text_of(const Situation& situation, std::string_view name) {
  const auto value = value_of(*situation.settings, name);
  return value && !value->empty() ? std::optional<std::string>{std::string(*value)} : std::nullopt;
}

std::optional<std::int64_t> number_of(const Situation& situation, std::string_view name) {
  const auto text = text_of(situation, name);
  if (!text) return std::nullopt;
  errno = 0;
  const long long number = std::strtoll(text->c_str(), nullptr, 0);
  return errno == ERANGE ? std::nullopt : std::optional<std::int64_t>{number};
}

bool is_on(const Situation& situation, std::string_view name) { return number_of(situation, name).value_or(0) != 0; }

std::string level_of(const Situation& situation, std::string_view name) {
  constexpr std::array<std::string_view, 10> kNames{"LOC", "NVL", "NVB", "C2C", "PIX", "PXB", "P2C", "PXN", "PHB", "SYS"};
  constexpr std::array<std::string_view, 6> kDigits{"LOC", "PIX", "PXB", "PHB", "SYS", "SYS"};
  const auto text = text_of(situation, name);
  if (!text) return {};
  if (std::find(kNames.begin(), kNames.end(), *text) != kNames.end()) return *text;
  if (text->front() < '0' || text->front() > '9') return {};
  const long long digit = std::strtoll(text->c_str(), nullptr, 0);
  return std::string(kDigits[static_cast<size_t>(std::clamp<long long>(digit, 0, 5))]);
}

bool spans_nodes(const Situation& situation) { return situation.policy->multi_node.value_or(true); }

diagnosis::Finding finding_about(const Situation& situation, std::string_view id, std::string_view variable) {
  diagnosis::Finding finding = diagnosis::finding_of(id, std::string(variable));
  const EffectiveSetting* setting = setting_named(*situation.settings, variable);
  if (!setting) return finding;
  finding.seen = setting->setting.value;
  if (!setting->source.empty() || setting->line > 0) {
    const std::string text = setting->setting.name + "=" + setting->setting.value;
    finding.evidence.push_back({.source = setting->source, .line = setting->line, .text = shorten(text, diagnosis::kEvidenceBytes)});
  }
  return finding;
}

}  // namespace verl::nccl
