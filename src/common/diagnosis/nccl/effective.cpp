#include "diagnosis/nccl/effective.h"

#include <algorithm>
#include <map>
#include <utility>

namespace verl::nccl {
namespace {

constexpr Version kConfFileVariable = version(2, 23);  // the first release that reads NCCL_CONF_FILE

std::string_view base_name(std::string_view path) { return path.substr(path.find_last_of('/') + 1); }

std::string_view document_of(const Environment& file) {
  if (!file.origin.empty()) return file.origin;
  return file.settings.empty() ? std::string_view{} : std::string_view{file.settings.front().source};
}

// Smaller is read first; nothing: not read at all.
std::optional<int> turn_of(const Environment& file, std::optional<std::string_view> chosen) {
  const std::string_view name = base_name(document_of(file));
  if (chosen && base_name(*chosen) == name) return 0;
  if (name == ".nccl.conf") return chosen ? std::nullopt : std::optional<int>{1};
  return 2;
}

std::vector<const Environment*> files_in_order(const Facts& facts, std::optional<std::string_view> chosen) {
  std::vector<std::pair<int, const Environment*>> files;
  for (const Environment& one : facts.environments) {
    if (one.kind != EnvironmentKind::Conf) continue;
    if (const auto turn = turn_of(one, chosen)) files.emplace_back(*turn, &one);
  }
  std::stable_sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<const Environment*> ordered;
  for (const auto& [turn, file] : files) ordered.push_back(file);
  return ordered;
}

EffectiveSetting effective_of(const SettingAt& at, EnvironmentKind kind) {
  EffectiveSetting one;
  one.setting = at.setting;
  one.kind = kind;
  one.source = at.source;
  one.line = at.line;
  return one;
}

// A shell, env and the kernel let the last text of a name count; a configuration file the first.
void lay(const Environment& environment, std::map<std::string, EffectiveSetting, std::less<>>& settings, std::vector<Overridden>& overridden) {
  const bool first_wins = environment.kind == EnvironmentKind::Conf;
  std::map<std::string, EffectiveSetting, std::less<>> own;
  for (const SettingAt& at : environment.settings) {
    EffectiveSetting one = effective_of(at, environment.kind);
    const auto [place, added] = own.try_emplace(at.setting.name, std::move(one));  // left alone when it is not added
    if (added) continue;
    if (place->second.setting.value != at.setting.value) {
      overridden.push_back(first_wins ? Overridden{.winner = place->second, .loser = one} : Overridden{.winner = one, .loser = place->second});
    }
    if (!first_wins) place->second = std::move(one);
  }
  for (auto& [name, one] : own) {
    const auto [place, added] = settings.try_emplace(name, std::move(one));
    if (!added && place->second.setting.value != one.setting.value) overridden.push_back({.winner = place->second, .loser = one});
  }
}

std::optional<std::string_view> chosen_file(const Environment* environment, std::optional<Version> version) {
  if (!environment || (version && *version < kConfFileVariable)) return std::nullopt;
  for (const SettingAt& at : environment->settings) {
    if (at.setting.name == "NCCL_CONF_FILE" && !at.setting.value.empty()) return at.setting.value;
  }
  return std::nullopt;
}

Effective effective(const Facts& facts, const Environment* environment, std::optional<Version> version) {
  Effective result;
  result.kind = environment ? environment->kind : EnvironmentKind::Conf;
  if (environment) result.origin = environment->origin;
  std::map<std::string, EffectiveSetting, std::less<>> settings;
  if (environment) lay(*environment, settings, result.overridden);
  for (const Environment* file : files_in_order(facts, chosen_file(environment, version))) lay(*file, settings, result.overridden);
  for (auto& [name, one] : settings) result.settings.push_back(std::move(one));
  return result;
}

}  // namespace

std::optional<Version> known_version(const Facts& facts, const diagnosis::Policy& policy) {
  const auto loaded = parse_version(facts.loaded_version);
  return loaded ? loaded : parse_version(policy.nccl_version);
}

std::vector<Effective> effective_environments(const Facts& facts, std::optional<Version> version) {
  std::vector<Effective> all;
  for (const Environment& one : facts.environments) {
    if (one.kind != EnvironmentKind::Conf) all.push_back(effective(facts, &one, version));
  }
  if (all.empty() && !facts.environments.empty()) all.push_back(effective(facts, nullptr, version));
  return all;
}

const EffectiveSetting* setting_named(const Effective& effective, std::string_view name) {
  const auto place = std::lower_bound(effective.settings.begin(), effective.settings.end(), name,
                                      [](const EffectiveSetting& one, std::string_view wanted) { return one.setting.name < wanted; });
  return place != effective.settings.end() && place->setting.name == name ? &*place : nullptr;
}

std::optional<std::string_view> value_of(const Effective& effective, std::string_view name) {
  const EffectiveSetting* one = setting_named(effective, name);
  return one ? std::optional<std::string_view>{one->setting.value} : std::nullopt;
}

}  // namespace verl::nccl
