// Settings of one node's processes, and which NCCL reads them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diagnosis/nccl/conf.h"
#include "diagnosis/nccl/host_facts.h"

namespace verl::nccl {

struct SettingAt {
  Setting setting{};
  std::string source{};  // empty: the document itself
  std::int64_t line{0};
  bool operator==(const SettingAt&) const = default;
};

// Where an environment was seen decides how its text is read and how much it proves.
enum class EnvironmentKind { Process, EnvFile, Conf, PodSpec, VerlJob, Report };

struct Environment {
  EnvironmentKind kind{EnvironmentKind::Process};
  std::string origin{};  // "container trainer", "rank 3"; empty: the whole node
  std::vector<SettingAt> settings{};
  SettingAt comment{};   // of a conf file: its first comment with "=" in it, for which old releases define a variable; line 0: none
  bool operator==(const Environment&) const = default;
};

struct Facts {
  std::vector<Environment> environments{};
  std::string loaded_version{};  // "2.27.3": of the library that was really loaded, never of an image's label; empty: unknown
  std::string hostname_address{};  // what the node's own host name resolves to there; empty: not known
  HostFacts host{};
  bool operator==(const Facts&) const = default;
};

void merge(Facts& into, Facts more);

}  // namespace verl::nccl
