#include "diagnosis/nccl/agreement.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include "base/text.h"
#include "diagnosis/nccl/read_value.h"

namespace verl::nccl {
namespace {

struct Occurrence {
  const EffectiveSetting* setting{nullptr};
  std::uint32_t member{0};
};

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

constexpr Version version_of(std::int32_t minor) { return version(2, minor); }

// Without a version only a default that never changed is known.
std::string_view default_of(const Variable& variable, std::optional<Version> version) {
  const std::string_view standard = standard_at(variable, version);
  if (version) return standard;
  for (const Version release : {version_of(8), version_of(15), version_of(17), version_of(18), version_of(19), version_of(20), version_of(23), version_of(24),
                                version_of(26), version_of(27)}) {
    if (standard_at(variable, release) != standard) return {};
  }
  return standard;
}

bool ignores_case(std::string_view name) {
  constexpr std::array<std::string_view, 3> kNames{"NCCL_ALGO", "NCCL_PROTO", "NCCL_NET"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

// What NCCL makes of it; nothing is its default, whatever that is.
std::optional<std::string> as_read(std::string_view name, const Variable* variable, std::optional<std::string_view> text, std::optional<Version> version) {
  if (!variable) return text ? std::optional<std::string>{std::string(*text)} : std::nullopt;
  const std::string_view standard = default_of(*variable, version);
  if (reads_as_integer(*variable, version)) {
    auto number = text ? read_integer(*text).number : std::nullopt;
    if (!number && !standard.empty()) number = read_integer(standard).number;
    return number ? std::optional<std::string>{std::to_string(*number)} : std::nullopt;
  }
  const bool empty_is_unset = name == "NCCL_ALGO" || name == "NCCL_PROTO";
  if (text && text->empty() && empty_is_unset) text = std::nullopt;
  if (!text && standard.empty()) return std::nullopt;
  const std::string_view read = text.value_or(standard);
  return ignores_case(name) ? lower(read) : std::string(read);
}

diagnosis::Evidence place_of(const EffectiveSetting& setting) {
  return {.source = setting.source, .line = setting.line, .text = shorten(setting.setting.name + "=" + setting.setting.value, diagnosis::kEvidenceBytes)};
}

std::optional<Difference> difference_of(const std::vector<Member>& members, const Occurrence* first, const Occurrence* last) {
  const auto count = static_cast<size_t>(last - first);
  const std::string_view text = first->setting->setting.value;
  const bool alike = std::all_of(first, last, [&](const Occurrence& one) { return one.setting->setting.value == text; });
  if (alike && count == members.size()) return std::nullopt;

  Difference difference;
  difference.name = first->setting->setting.name;
  difference.variable = variable_named(difference.name);
  difference.agreement = difference.variable ? difference.variable->agreement : Agreement::Unclear;
  difference.unset_somewhere = count < members.size();
  std::map<std::optional<std::string>, std::string> shown;  // as NCCL reads it -> as the first of them wrote it
  std::vector<Said> said;
  const auto say = [&](std::uint32_t member, std::optional<std::string_view> own) {
    const auto key = as_read(difference.name, difference.variable, own, members[member].version);
    const auto [place, added] = shown.emplace(key, own ? (own->empty() ? "\"\"" : std::string(*own)) : "not set");
    said.push_back({.node = members[member].node, .value = place->second});
    return added;
  };
  std::vector<bool> spoke(members.size(), false);
  for (const Occurrence* one = first; one != last; ++one) {
    spoke[one->member] = true;
    if (say(one->member, one->setting->setting.value)) difference.evidence.push_back(place_of(*one->setting));
  }
  difference.one_value = shown.size() == 1;
  for (std::uint32_t member = 0; member < members.size(); ++member) {
    if (!spoke[member]) say(member, std::nullopt);
  }
  if (shown.size() < 2) return std::nullopt;
  difference.split = split_of(std::move(said));
  return difference;
}

bool is_number(std::string_view text) { return parse_int(text).has_value(); }

}  // namespace

std::string group_of(std::string_view origin) {
  std::vector<std::string> kept;
  const auto words = split_whitespace(origin);
  for (size_t i = 0; i < words.size(); ++i) {
    const bool counter = words[i] == "rank" || words[i] == "local" || words[i] == "pid" || words[i] == "process" || words[i] == "worker" || words[i] == "actor";
    if (counter && i + 1 < words.size() && (is_number(words[i + 1]) || words[i + 1] == "rank")) {
      if (words[i + 1] != "rank") ++i;
      continue;
    }
    if ((words[i] == "pod" || words[i] == "Pod") && i + 1 < words.size()) {
      ++i;
      continue;
    }
    kept.emplace_back(words[i]);
  }
  return join(kept, " ");
}

std::vector<Difference> differences(const std::vector<Member>& members) {
  std::vector<Occurrence> all;
  for (std::uint32_t i = 0; i < members.size(); ++i) {
    for (const EffectiveSetting& setting : members[i].settings->settings) all.push_back({.setting = &setting, .member = i});
  }
  std::stable_sort(all.begin(), all.end(), [](const Occurrence& a, const Occurrence& b) { return a.setting->setting.name < b.setting->setting.name; });
  std::vector<Difference> found;
  for (size_t begin = 0; begin < all.size();) {
    size_t end = begin;
    while (end < all.size() && all[end].setting->setting.name == all[begin].setting->setting.name) ++end;
    if (auto one = difference_of(members, all.data() + begin, all.data() + end)) found.push_back(std::move(*one));
    begin = end;
  }
  return found;
}

}  // namespace verl::nccl
