// What the flags of diagnose, lint and nccl-log say.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diagnosis/finding.h"
#include "report/layout.h"

namespace verl::cli {

enum class DiagnosisOutput { Table, Json };

struct DiagnoseOptions {
  std::vector<std::string> paths{};   // PATH or NODE=PATH; "-": standard input; none: standard input
  std::string format{};               // --as; empty: recognised by content
  std::string policy{};               // --policy; empty: defaults
  diagnosis::Severity fail_on{diagnosis::Severity::Error};
  DiagnosisOutput output{DiagnosisOutput::Table};
  report::Style style{};
  bool strip_comments{false};
  bool list_formats{false};
  bool list_rules{false};             // the text of docs/lint.md
};

}  // namespace verl::cli
