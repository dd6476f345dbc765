// diagnose at its edges: which files are whose, what a policy file may say, what is printed and with which code. What the texts mean is
// tested beside the parsers.
#include "kubectl-verl/diagnose/run.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "kubectl-verl/diagnose/gather.h"
#include "kubectl-verl/diagnose/policy_file.h"
#include "kubectl-verl/diagnose/print_diagnosis.h"
#include "kubectl-verl/options.h"
#include "tests/unit/host/scratch.h"
#include "tests/unit/report/validator.h"

namespace verl::cli {
namespace {

using diagnosis::Severity;
using host::Scratch;

struct Outcome {
  int code{-1};
  std::string out{};
  std::string err{};
};

Outcome run(const DiagnoseOptions& options) {
  std::ostringstream out;
  std::ostringstream err;
  const int code = run_diagnose(options, out, err);
  return {code, out.str(), err.str()};
}

TEST(DocumentPaths, AFolderIsANodeAndAFolderOfFoldersAFleet) {
  const Scratch scratch;
  for (const char* file : {"/fleet/n2/b.txt", "/fleet/n1/a.txt", "/fleet/n1/deep/c.txt", "/fleet/n1/.hidden", "/fleet/loose.txt", "/one.txt"}) scratch.put(file, "x");
  const auto paths = document_paths({scratch.path("/fleet"), scratch.path("/fleet/n2"), "n9=" + scratch.path("/one.txt"), "-"});
  ASSERT_TRUE(paths.errors.empty());
  const std::vector<DocumentPath> wanted{{scratch.path("/fleet/loose.txt"), ""},    {scratch.path("/fleet/n1/a.txt"), "n1"}, {scratch.path("/fleet/n1/deep/c.txt"), "n1"},
                                         {scratch.path("/fleet/n2/b.txt"), "n2"},   {scratch.path("/fleet/n2/b.txt"), "n2"}, {scratch.path("/one.txt"), "n9"},
                                         {"-", ""}};
  EXPECT_EQ(paths.paths, wanted);
}

TEST(DocumentPaths, SayWhatIsNotThere) {
  const Scratch scratch;
  std::filesystem::create_directories(scratch.path("/empty"));
  struct Row {
    std::vector<std::string> arguments{};
    std::string error{};
  };
  const std::vector<Row> rows{{{"/none"}, "/none: no such file or folder"},
                              {{"n1=/none"}, "/none: no such file or folder"},
                              {{scratch.path("/empty")}, scratch.path("/empty") + ": no file in it"},
                              {{"-", "n1=-"}, "standard input is named twice; it can be read once"}};
  for (const Row& row : rows) {
    const auto paths = document_paths(row.arguments);
    ASSERT_EQ(paths.errors.size(), 1U);
    EXPECT_EQ(paths.errors[0].message, row.error);
  }
}

TEST(DocumentPaths, NeverFollowALinkRoundACircle) {
  const Scratch scratch;
  scratch.put("/n1/a.txt", "x");
  scratch.link("/n1/again", scratch.path("/n1"));
  const auto paths = document_paths({scratch.path("/n1")});
  EXPECT_EQ(paths.paths, (std::vector<DocumentPath>{{scratch.path("/n1/a.txt"), "n1"}}));
}

TEST(PolicyFile, TakesBothKindsAndTheOwnOneCounts) {
  const auto policy = parse_policy(R"(
kind: DiagnosisPolicy
clockWarnMs: 1.5
platform: aws
expectations: [{test: ib_write_bw, size: 65536, queuePairs: 4, minimum: 380}]
suppressions: [{id: document-unrecognised, node: n0*, reason: "ops: old dumps"}]
---
apiVersion: verl.run/v1alpha1
kind: ReadinessPolicy
metadata: {name: h100}
spec:
  rdmaResource: rdma/hca
  expectations:
    thresholds: {mtuMin: 9000, linkGbpsMin: 400}
    inventory: {gpus: 8}
)");
  ASSERT_TRUE(policy) << policy.error().message;
  diagnosis::Policy wanted;
  wanted.clock_warn = Microseconds(1500);
  wanted.platform = "aws";
  wanted.expectations = {{.test = "ib_write_bw", .size = 65536, .queue_pairs = 4, .bidirectional = {}, .minimum = 380.0, .maximum_us = {}}};
  wanted.suppressions = {{.id = "document-unrecognised", .subject = "", .node = "n0*", .reason = "ops: old dumps"}};
  wanted.rdma_resource = "rdma/hca";
  wanted.mtu_min = 9000;
  wanted.link_gbps_min = 400;
  wanted.gpus = 8;
  EXPECT_EQ(*policy, wanted);
}

TEST(PolicyFile, RefusesWhatItWouldHaveToGuess) {
  struct Row {
    const char* yaml{nullptr};
    const char* error{nullptr};
  };
  const std::vector<Row> rows{
      {"", "the file holds 0 documents, wants a ReadinessPolicy, a DiagnosisPolicy or one of each"},
      {"mtuMin: 9000", "a document is of another kind, wants kind: ReadinessPolicy or kind: DiagnosisPolicy"},
      {"kind: DiagnosisPolicy\nmtuMim: 9000", "DiagnosisPolicy: unknown field mtuMim; did you mean mtuMin?"},
      {"kind: DiagnosisPolicy\nmtuMin: -1", "DiagnosisPolicy.mtuMin: is -1, wants a whole number, 0 or more"},
      {"kind: DiagnosisPolicy\nmtuMin: 5000000000", "DiagnosisPolicy.mtuMin: is 5000000000, wants a whole number, 0 or more"},
      {"kind: DiagnosisPolicy\ngpudirect: 1", "DiagnosisPolicy.gpudirect: is 1, wants true or false"},
      {"kind: DiagnosisPolicy\nclockWarnMs: 600", "clockWarnMs is larger than clockFailMs"},
      {"kind: DiagnosisPolicy\nsuppressions: [{id: document-unrecognised}]", "suppressions[0] (document-unrecognised): wants a reason: who decided it, and why"},
      {"kind: DiagnosisPolicy\nsuppressions: [{id: document-unrecognized, reason: x}]",
       "suppressions[0].id: no rule is called \"document-unrecognized\"; did you mean document-unrecognised?"},
      {"kind: DiagnosisPolicy\nsuppressions: {}", "DiagnosisPolicy.suppressions: wants a list"},
      {"kind: DiagnosisPolicy\nexpectations: [{test: ib_write_bw}]", "expectations[0]: wants test, and minimum or maximumUs"},
      {"kind: DiagnosisPolicy\n---\nkind: DiagnosisPolicy", "two documents are of kind DiagnosisPolicy, wants one"}};
  for (const Row& row : rows) {
    const auto policy = parse_policy(row.yaml);
    ASSERT_FALSE(policy) << row.yaml;
    EXPECT_EQ(policy.error().message, row.error);
  }
}

TEST(Diagnose, WhatNobodyRecognisesProvesNothing) {
  const Scratch scratch;
  scratch.put("/n1/strange.bin", std::string("\x01\x02 lorem ipsum\n", 15));
  const Outcome outcome = run({.paths = {scratch.path("/n1")}});
  EXPECT_EQ(outcome.code, kExitNoReport);
  EXPECT_NE(outcome.out.find("document-unrecognised"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("0 of 1 document read. 0 errors, 0 warnings, 1 unknown, 0 for information."), std::string::npos) << outcome.out;
}

TEST(Diagnose, ASuppressionIsShownWithItsReason) {
  const Scratch scratch;
  scratch.put("/n1/strange.txt", "lorem ipsum\n");
  scratch.put("/policy.yaml", "kind: DiagnosisPolicy\nsuppressions: [{id: document-unrecognised, reason: known dump}]\n");
  const Outcome outcome = run({.paths = {scratch.path("/n1")}, .format = {}, .policy = scratch.path("/policy.yaml")});
  EXPECT_EQ(outcome.code, kExitNoReport);  // still nothing was read
  EXPECT_NE(outcome.out.find("because: known dump"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("0 unknown, 0 for information, 1 suppressed."), std::string::npos) << outcome.out;
}

TEST(Diagnose, UnknownIsAnErrorAtEveryLevel) {
  const Scratch scratch;
  scratch.put("/n1/good.env", "NCCL_DEBUG=WARN\n");
  scratch.put("/n1/strange.txt", "lorem ipsum\n");
  EXPECT_EQ(run({.paths = {scratch.path("/n1")}}).code, kExitFindings);
}

TEST(Diagnose, WhatIsThereIsJudgedBesideAPathThatIsNot) {
  const Scratch scratch;
  scratch.put("/n1/a.env", "NCCL_BUFFSIZE=8M\n");
  const Outcome outcome = run({.paths = {"/none", scratch.path("/n1")}});
  EXPECT_EQ(outcome.code, kExitNoReport);
  EXPECT_EQ(outcome.err, "kubectl-verl: looking for documents: /none: no such file or folder\n");
  EXPECT_NE(outcome.out.find("NCCL004"), std::string::npos) << outcome.out;
}

TEST(Diagnose, NeverPrintsASecret) {
  const Scratch scratch;
  scratch.put("/n1/pod.yaml", R"(
apiVersion: v1
kind: Secret
metadata: {name: keys}
stringData: {trainer: hunter2}
---
apiVersion: v1
kind: Pod
metadata: {name: p}
spec:
  containers:
  - name: trainer
    resources: {limits: {nvidia.com/gpu: 8}}
    env: [{name: WANDB_API_KEY, value: hunter3}, {name: WANDB_API_KEY, value: hunter4}, {name: NCCL_DEBUG, value: WARN}]
)");
  scratch.put("/n1/nccl.conf", "NCCL_DEBUG=WARN\nhunter5\nAWS_SECRET_ACCESS_KEY=hunter6\n");
  scratch.put("/n1/all.env", "HOME=/root\nAWS_SECRET_ACCESS_KEY=hunter7\nNCCL_DEBUG=INFO\n");
  for (const DiagnosisOutput output : {DiagnosisOutput::Table, DiagnosisOutput::Json}) {
    DiagnoseOptions options{.paths = {scratch.path("/n1")}};
    options.output = output;
    options.style.all = true;
    const Outcome outcome = run(options);
    EXPECT_EQ(outcome.out.find("hunter"), std::string::npos) << outcome.out;
    EXPECT_EQ(outcome.err, "");
  }
}

TEST(Diagnose, AnUnknownFormatIsWrongUsage) {
  const Outcome outcome = run({.paths = {"-"}, .format = "logg"});
  EXPECT_EQ(outcome.code, kExitUsage);
  EXPECT_EQ(outcome.err, "kubectl-verl: no format is called \"logg\"; did you mean log?; --formats lists them\n");
}

TEST(Diagnose, AFileThatCannotBeReadIsNamedAndTheRestIsPrinted) {
  const Scratch scratch;
  scratch.put("/n1/strange.txt", "lorem ipsum\n");
  const Outcome outcome = run({.paths = {"/proc/self/mem", scratch.path("/n1")}});  // opens, and cannot be read at its beginning
  EXPECT_EQ(outcome.code, kExitNoReport);
  EXPECT_EQ(outcome.err, "kubectl-verl: reading: /proc/self/mem: Input/output error\n");
  EXPECT_NE(outcome.out.find("document-unrecognised"), std::string::npos);
}

TEST(Diagnose, ItsJsonFitsThePublishedSchema) {
  const Scratch scratch;
  scratch.put("/fleet/n1/nccl.env", "NCCL_IB_HCAS=mlx5_0\nNCCL_DEBUG=WARN\n");
  scratch.put("/fleet/n2/nccl.env", "NCCL_BUFFSIZE=8M\nNCCL_DEBUG=WARN\n");
  scratch.put("/fleet/n2/strange.txt", "lorem\x1b[31m \xff ipsum\n");
  scratch.put("/policy.yaml", "kind: DiagnosisPolicy\nsuppressions: [{id: NCCL004, reason: vendor build}]\n");
  DiagnoseOptions options{.paths = {scratch.path("/fleet")}, .format = {}, .policy = scratch.path("/policy.yaml")};
  options.output = DiagnosisOutput::Json;
  const Outcome outcome = run(options);
  EXPECT_EQ(outcome.code, kExitFindings) << outcome.err;
  const auto document = nlohmann::json::parse(outcome.out, nullptr, false);
  ASSERT_TRUE(document.is_object()) << outcome.out;
  EXPECT_EQ(report::published_schema("diagnosis-v1.json").check(document), std::vector<std::string>{});
  EXPECT_EQ(document["documents"].size(), 3U);
  EXPECT_EQ(document["suppressed"].size(), 1U);
}

TEST(Diagnose, TheRulesInTheDocumentsAreTheRulesOfTheCode) {
  const char* source = std::getenv("VERL_SOURCE");
  std::ostringstream text;
  text << std::ifstream(std::string(source == nullptr ? "." : source) + "/docs/lint.md").rdbuf();
  const std::string wanted = run({.paths = {}, .format = {}, .policy = {}, .fail_on = Severity::Error, .output = {}, .style = {}, .strip_comments = false,
                                  .list_formats = false, .list_rules = true}).out;
  EXPECT_EQ(text.str(), wanted) << "write it anew: kubectl-verl diagnose --rules > docs/lint.md";
}

}  // namespace
}  // namespace verl::cli
