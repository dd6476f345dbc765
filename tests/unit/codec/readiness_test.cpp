#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "codec/decode.h"
#include "codec/encode.h"

namespace verl::codec {
namespace {

TEST(NodeReadiness, NamesEveryFieldItCannotRead) {
  const auto report = decode_object<api::NodeReadiness>(R"({"spec":{"nodeUID":1,"expectations":{"thresholds":{"mtuMin":"9000"},"checks":[{"id":"a","action":"Maybe"}]}},
    "status":{"findings":[{"check":"mtu-interface","verdict":"Fine"}],"clock":{"offsetMicroseconds":0.5},"interfaces":{},"conditions":[{"status":"True","lastTransitionTime":1}]}})");
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->unreadable, (std::vector<std::string>{
                                    "spec.nodeUID: must be a string, is 1",
                                    "spec.expectations.thresholds.mtuMin: must be a whole number, is \"9000\"",
                                    "spec.expectations.checks[0].action: must be one of Block Warn Off, is \"Maybe\"",
                                    "status.conditions[0].lastTransitionTime: must be a time, is 1",
                                    "status.findings[0].verdict: must be one of Pass Warn Fail Unknown Skipped, is \"Fine\"",
                                    "status.clock.offsetMicroseconds: must be a whole number, is 0.5",
                                    "status.interfaces: must be a list, is a map",
                                }));
  ASSERT_EQ(report->status.findings.size(), 1U);
  EXPECT_EQ(report->status.findings[0].verdict, Verdict::Unknown) << "an unknown word never passes";
}

TEST(NodeReadiness, WithoutStatusKnowsNothing) {
  const auto report = decode_object<api::NodeReadiness>(R"({"metadata":{"name":"n"},"spec":{"nodeUID":"u"},"status":null})");
  ASSERT_TRUE(report);
  EXPECT_EQ(report->status, api::NodeReadinessStatus{});
  EXPECT_TRUE(report->unreadable.empty());
}

TEST(NodeReadiness, IsWrittenByTwoWhoOwnDifferentParts) {
  api::NodeReadinessStatus status{};
  status.verdict = "Ready";
  status.boot_id = "b";
  status.conditions = {{.type = "Ready", .status = api::ConditionStatus::True, .reason = "Ready"},
                       {.type = "Healthy", .status = api::ConditionStatus::True, .reason = "Healthy"}};
  const api::Meta meta{.name_space = "", .name = "n"};
  const auto agent = nlohmann::json::parse(encode_agent_status(meta, status))["status"];
  const auto op = nlohmann::json::parse(encode_operator_status(meta, status))["status"];
  EXPECT_FALSE(agent.contains("verdict"));
  ASSERT_EQ(agent["conditions"].size(), 1U);
  EXPECT_EQ(agent["conditions"][0]["type"], "Healthy");
  EXPECT_EQ(op["verdict"], "Ready");
  ASSERT_EQ(op["conditions"].size(), 1U);
  EXPECT_EQ(op["conditions"][0]["type"], "Ready");
  EXPECT_EQ(op.size(), 2U);
}

TEST(NodeReadiness, IsOwnedByItsNode) {
  api::NodeReadiness report{};
  report.meta.name = "n";
  report.spec.node_uid = "u";
  const auto body = nlohmann::json::parse(encode_spec(report, "u"));
  EXPECT_EQ(body["metadata"]["ownerReferences"], nlohmann::json::parse(R"([{"apiVersion":"v1","kind":"Node","name":"n","uid":"u"}])"));
  EXPECT_FALSE(body.contains("status"));
  EXPECT_FALSE(nlohmann::json::parse(encode_spec(report, ""))["metadata"].contains("ownerReferences"));
}

TEST(ReadinessPolicy, NamesEveryFieldItCannotRead) {
  const auto policy = decode_object<api::ReadinessPolicy>(
      R"({"spec":{"priority":"high","memoryPerGPU":"lots","reservedPorts":[1,"2"],"nodeSelector":{"matchExpressions":[{"key":"a","operator":"Gt"}]}}})");
  ASSERT_TRUE(policy) << policy.error().message;
  EXPECT_EQ(policy->unreadable, (std::vector<std::string>{
                                    "spec.priority: must be a whole number, is \"high\"",
                                    "spec.memoryPerGPU: \"lots\" is no quantity that can be counted",
                                    "spec.reservedPorts[1]: must be a whole number, is \"2\"",
                                    "spec.nodeSelector.matchExpressions[0].operator: must be one of In NotIn Exists DoesNotExist, is \"Gt\"",
                                }));
  EXPECT_EQ(policy->spec.memory_per_gpu, std::nullopt);
}

}  // namespace
}  // namespace verl::codec
