// How settings that were read are kept: as facts, and as values with what NCCL makes of them. Only what concerns communication:
// an environment holds secrets, and their values are never kept.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "diagnosis/format.h"
#include "diagnosis/nccl/facts.h"

namespace verl::nccl {

class Recorder {
 public:
  Recorder(diagnosis::Reading& reading, const diagnosis::ReadOptions& options, EnvironmentKind kind);

  // Is it one whose value may be kept? Misspelt names of that kind are.
  bool concerns(std::string_view name);

  // Keeps it when it concerns communication; else only counts it.
  void add(const std::string& node, Setting setting, std::int64_t line);

  // The same where the name as written is not the name that was meant ("export X").
  void add_as(std::string_view meant, const std::string& node, Setting setting, std::int64_t line);

  // A setting whose value the text does not tell.
  void add_unknown(std::string_view name, std::int64_t line);

  // A conf file's comment, see Environment.
  void add_comment(Setting setting, std::int64_t line);

  // Says what was left alone.
  void finish();

 private:
  Environment& environment_of(const std::string& node);

  diagnosis::Reading& reading_;
  const diagnosis::ReadOptions& options_;
  EnvironmentKind kind_;
  std::map<std::string, size_t> index_{};  // of nodes in the reading
  std::int64_t others_{0};
  std::int64_t compared_{0};  // names compared with all known ones, which is bounded
};

}  // namespace verl::nccl
