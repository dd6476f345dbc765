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
    bool fails_on_error;
    bool fails_on_warning;
  };
  const Row rows[] = {{{Verdict::Pass, Verdict::Skipped}, false, false}, {{Verdict::Pass, Verdict::Warn}, false, true}, {{Verdict::Unknown}, true, true},
                      {{Verdict::Fail, Verdict::Pass}, true, true},      {{Verdict::Skipped}, true, true},             {{}, true, true}};
  for (const Row& row : rows) {
    api::NodeReadiness node;
    for (const Verdict verdict : row.verdicts) node.status.findings.push_back({.check = "x", .verdict = verdict});
    EXPECT_EQ(report::fails(line_of(node), report::FailOn::Error), row.fails_on_error);
    EXPECT_EQ(report::fails(line_of(node), report::FailOn::Warning), row.fails_on_warning);
  }
}

TEST(Print, JsonHoldsTheStatus) {
  api::NodeReadiness report;
  report.meta.name = "n1";
  const Observation seen = h100();
  report.spec = h100_spec();
  report.status = status_of({.observation = seen, .spec = report.spec, .before = nullptr});
  const auto json = nlohmann::json::parse(print_report(report, report::Format::Json, {}));
  EXPECT_EQ(json["schemaVersion"], 1);
  EXPECT_EQ(json["status"]["bootID"], "boot-1");
  EXPECT_EQ(json["status"]["clock"]["errorBoundMicroseconds"], 1000);
  EXPECT_EQ(json["findings"].size(), report.status.findings.size());
  EXPECT_EQ(json["ready"], true);
  EXPECT_FALSE(json["status"].contains("findings"));
  EXPECT_EQ(nlohmann::json::parse(status_json(report.status))["findings"].size(), report.status.findings.size());
}

TEST(Print, MarksAreThoseOfEveryOtherReport) {
  api::NodeReadiness report;
  report.status.findings = {{.check = "mtu-interface", .verdict = Verdict::Fail, .subject = "ens0f0", .seen = "1500", .wanted = "≥ 9000", .remedy = "ip link set ens0f0 mtu 9000"},
                            {.check = "clock-sync", .verdict = Verdict::Pass},
                            {.check = "gpu-count", .verdict = Verdict::Unknown, .message = "denied"}};
  EXPECT_EQ(print_report(report, report::Format::Table, {.ascii = true}),
            "network\n-------\nXX MTU of fabric interfaces                                        mtu-interface\n    ens0f0 1500, wants >= 9000\n"
            "      fix: ip link set ens0f0 mtu 9000\n\ngpu\n---\n?? GPUs are all there                                                  gpu-count\n    denied\n\n"
            "time\n----\nok the clock follows a time source\n\nReady: no. 1 error, 0 warnings, 1 unknown.\n");
}

}  // namespace
}  // namespace verl::agent
