// What a process of the node really has: its own environment over the configuration files, as libnccl lays them (src/misc/param.cc).
// Decides which of several texts for one name counts and keeps where it came from; what the value means is read elsewhere.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "diagnosis/nccl/facts.h"
#include "diagnosis/nccl/version.h"
#include "diagnosis/policy.h"

namespace verl::nccl {

struct EffectiveSetting {
  Setting setting{};
  EnvironmentKind kind{EnvironmentKind::Process};  // of the environment or file it stands in
  std::string source{};                            // the document; empty: not known
  std::int64_t line{0};
  bool operator==(const EffectiveSetting&) const = default;
};

// Two texts for one name.
struct Overridden {
  EffectiveSetting winner{};
  EffectiveSetting loser{};
  bool operator==(const Overridden&) const = default;
};

struct Effective {
  std::string origin{};                                // "container trainer"; empty: the whole node
  EnvironmentKind kind{EnvironmentKind::Process};      // of the environment that lies over the files; Conf: there is none
  std::vector<EffectiveSetting> settings{};            // sorted by name, each name once
  std::vector<Overridden> overridden{};                // only those whose texts differ
  bool operator==(const Effective&) const = default;
};

// Of the library that was loaded, else what the policy says; nothing: unknown.
std::optional<Version> known_version(const Facts& facts, const diagnosis::Policy& policy);

// One for each environment of the node, with its configuration files below it; only the files when there is no environment.
// Empty when nothing is known. The order of files: NCCL_CONF_FILE's (2.23 and later) or else the user's .nccl.conf, then /etc/nccl.conf.
std::vector<Effective> effective_environments(const Facts& facts, std::optional<Version> version);

const EffectiveSetting* setting_named(const Effective& effective, std::string_view name);

// Its text; nothing: not set. An empty text is a text.
std::optional<std::string_view> value_of(const Effective& effective, std::string_view name);

}  // namespace verl::nccl
