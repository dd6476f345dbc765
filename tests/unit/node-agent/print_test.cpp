#include "node-agent/agent/print.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "node-agent/agent/check.h"
#include "tests/unit/node-agent/h100.h"

namespace verl::agent {
namespace {

TEST(ExitCode, UnknownCountsAsAnErrorAtEveryLevel) {
  struct Row {
    std::vector<Verdict> verdicts;
    int on_error;
    int on_warning;
  };
  const Row rows[] = {{{Verdict::Pass, Verdict::Skipped}, 0, 0}, {{Verdict::Pass, Verdict::Warn}, 0, 79}, {{Verdict::Unknown}, 79, 79},
                      {{Verdict::Fail, Verdict::Pass}, 79, 79}, {{}, 79, 79}};
  for (const Row& row : rows) {
    std::vector<Finding> findings;
    for (const Verdict verdict : row.verdicts) findings.push_back({.check = "x", .verdict = verdict});
    EXPECT_EQ(exit_code(findings, FailOn::Error), row.on_error);
    EXPECT_EQ(exit_code(findings, FailOn::Warning), row.on_warning);
  }
}

TEST(Print, JsonHoldsTheStatus) {
  api::NodeReadiness report;
  report.meta.name = "n1";
  const Observation seen = h100();
  report.spec = h100_spec();
  report.status = status_of({.observation = seen, .spec = report.spec, .before = nullptr});
  const auto json = nlohmann::json::parse(print_report(report, {.format = Format::Json}));
  EXPECT_EQ(json["schemaVersion"], 1);
  EXPECT_EQ(json["status"]["bootID"], "boot-1");
  EXPECT_EQ(json["status"]["clock"]["errorBoundMicroseconds"], 1000);
  EXPECT_EQ(json["status"]["findings"].size(), report.status.findings.size());
  const std::string table = print_report(report, {.format = Format::Table, .ascii = true});
  EXPECT_NE(table.find("0 failed, 0 unknown, 0 warnings"), std::string::npos) << table;
  for (const char c : table) EXPECT_GT(c, 0);
}

}  // namespace
}  // namespace verl::agent
