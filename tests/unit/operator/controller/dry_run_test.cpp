#include "operator/controller/dry_run.h"

#include <gtest/gtest.h>

#include "fake_cluster.h"

namespace verl::controller {
namespace {

using testing::refusal;

constexpr Timestamp kAsked{Seconds{1'796'000'000}};

core::DryRun judge(const std::string& sent, const kube::Reply& reply) { return judge_dry_run("main", 7, "rl", sent, reply, kAsked); }

// A pod with what is asked of it; every part can be replaced.
struct PodText {
  std::string requests{R"({"cpu":"4","memory":"8Gi","nvidia.com/gpu":"8"})"};
  std::string limits{R"({"cpu":"4","memory":"8Gi","nvidia.com/gpu":"8"})"};
  std::string spec{R"("hostNetwork":true,"dnsPolicy":"ClusterFirstWithHostNet","restartPolicy":"Never","schedulerName":"default-scheduler")"};
  std::string affinity{R"({"nodeAffinity":{"required":"n1"}})"};
  std::string command{R"(["/bin/sh"])"};
  std::string image{"verl:1"};
  std::string more_containers{};
  std::string init{};
  std::string status{};
};

std::string text(const PodText& pod) {
  return R"({"kind":"Pod","metadata":{"name":"qwen-0-0","namespace":"rl","uid":"u","resourceVersion":"1"},"spec":{)" + pod.spec + R"(,"affinity":)" +
         pod.affinity + (pod.init.empty() ? "" : R"(,"initContainers":[)" + pod.init + "]") + R"(,"containers":[{"name":"ray","image":")" + pod.image +
         R"(","command":)" + pod.command + R"(,"resources":{"requests":)" + pod.requests + R"(,"limits":)" + pod.limits + "}}" + pod.more_containers + "]}" +
         (pod.status.empty() ? "" : R"(,"status":)" + pod.status) + "}";
}

TEST(DryRun, WhatTheApiserverTakesAsItWasSentIsAllowedWithItsRequests) {
  const core::DryRun run = judge(text({}), {.status = 201, .body = text({.status = R"({"qosClass":"Guaranteed"})"})});
  EXPECT_EQ(run.refusal_reason + run.refusal_message, "");
  EXPECT_TRUE(run.allowed);
  EXPECT_EQ(run.job_generation, 7);
  EXPECT_EQ(run.pool, "main");
  EXPECT_EQ(run.asked, kAsked);
  EXPECT_EQ(run.requests.at("cpu"), 4000);
  EXPECT_EQ(run.requests.at("nvidia.com/gpu"), 8000);
}

TEST(DryRun, TheSameAmountWrittenInAnotherWayIsNoChange) {
  for (const char* returned : {R"({"cpu":"4000m","memory":"8589934592","nvidia.com/gpu":"8"})", R"({"memory":"8192Mi","cpu":4,"nvidia.com/gpu":8})"}) {
    EXPECT_TRUE(judge(text({}), {.status = 201, .body = text({.requests = returned, .limits = returned})}).allowed) << returned;
  }
}

TEST(DryRun, AChangeThatWouldBreakTheGangIsNamed) {
  const std::string spec = R"("dnsPolicy":"ClusterFirstWithHostNet","restartPolicy":"Never","schedulerName":"default-scheduler")";
  struct Case {
    PodText returned;
    const char* field;
  };
  const std::vector<Case> cases{
      {{.requests = R"({"cpu":"3","memory":"8Gi","nvidia.com/gpu":"8"})"}, "spec.containers[0].resources.requests"},
      {{.requests = R"({"cpu":"4","memory":"8Gi"})"}, "spec.containers[0].resources.requests"},
      {{.requests = R"({"cpu":"4","memory":"8Gi","nvidia.com/gpu":"8","ephemeral-storage":"1Gi"})"}, "spec.containers[0].resources.requests"},
      {{.requests = R"({"cpu":"4 cores","memory":"8Gi","nvidia.com/gpu":"8"})"}, "spec.containers[0].resources.requests"},
      {{.requests = R"(["cpu"])"}, "spec.containers[0].resources.requests"},
      {{.limits = R"({"cpu":"8","memory":"8Gi","nvidia.com/gpu":"8"})"}, "spec.containers[0].resources.limits"},
      {{.spec = R"("hostNetwork":false,)" + spec}, "spec.hostNetwork"},
      {{.spec = spec}, "spec.hostNetwork"},
      {{.spec = R"("hostNetwork":true,"dnsPolicy":"Default","restartPolicy":"Never","schedulerName":"default-scheduler")"}, "spec.dnsPolicy"},
      {{.spec = R"("hostNetwork":true,"dnsPolicy":"ClusterFirstWithHostNet","restartPolicy":"Never","schedulerName":"volcano")"}, "spec.schedulerName"},
      {{.affinity = "{}"}, "spec.affinity"},
      {{.command = R"(["/sidecar"])"}, "spec.containers[0].command"},
      {{.image = "mirror/verl:1"}, "spec.containers[0].image"},
      {{.more_containers = R"(,{"name":"istio-proxy","image":"i"})"}, "spec.containers (2 instead of 1)"},
      {{.init = R"({"name":"istio-init","image":"i"})", .status = R"({"qosClass":"Burstable"})"}, "status.qosClass (\"Burstable\" instead of \"Guaranteed\")"},
  };
  for (const Case& one : cases) {
    const core::DryRun run = judge(text({}), {.status = 201, .body = text(one.returned)});
    EXPECT_FALSE(run.allowed) << one.field;
    EXPECT_EQ(run.refusal_reason, "PodMutated") << one.field;
    EXPECT_NE(run.refusal_message.find(std::string(" changes ") + one.field + " of the job's pods"), std::string::npos) << run.refusal_message;
  }
}

TEST(DryRun, ALowerClassThanGuaranteedIsNoChangeWhereThePodAskedForNoMore) {
  PodText sent{.init = R"({"name":"copy","image":"i"})"};
  PodText returned = sent;
  returned.status = R"({"qosClass":"Burstable"})";
  EXPECT_TRUE(judge(text(sent), {.status = 201, .body = text(returned)}).allowed);
}

TEST(DryRun, WhatIsAddedWithoutHarmIsLeftAlone) {
  PodText returned{};
  returned.spec += R"(,"tolerations":[{"key":"x"}],"serviceAccountName":"default","volumes":[])";
  EXPECT_TRUE(judge(text({}), {.status = 201, .body = text(returned)}).allowed);
}

TEST(DryRun, ARefusalBecomesTheReasonThatItIs) {
  struct Case {
    kube::Reply reply;
    const char* reason;
    const char* part;  // of the message
  };
  const std::vector<Case> cases{
      {refusal(403, "Forbidden", "pods \\\"qwen-0-0\\\" is forbidden: violates PodSecurity \\\"baseline:latest\\\": host namespaces"), "PodSecurityForbids",
       "kubectl label namespace rl pod-security.kubernetes.io/enforce=privileged"},
      {refusal(403, "Forbidden", "exceeded quota: compute, requested: pods=1"), "QuotaExceeded", "pool main: exceeded quota: compute"},
      {refusal(403, "Forbidden", "pods is forbidden: User \\\"x\\\" cannot create"), "PodRefused", "pool main: the apiserver would not take its pod: Forbidden (403)"},
      {refusal(422, "Invalid", "spec.containers[0].image: Required value"), "PodRefused", "Invalid (422): spec.containers[0].image"},
      {refusal(404, "NotFound", "namespaces \\\"rl\\\" not found", "rl"), "PodRefused", "NotFound (404)"},
      {{.status = 400, .body = "<html>proxy</html>"}, "PodRefused", "400: <html>proxy</html>"},
      {refusal(409, "AlreadyExists", "pods \\\"qwen-0-0\\\" already exists", "qwen-0-0"), "PodNameTaken", "kubectl delete pod -n rl qwen-0-0"},
      {{.status = 201, .body = "[]"}, "PodMutated", "spec.hostNetwork"},
      {{.status = 201, .body = "no JSON"}, "PodMutated", "spec.hostNetwork"},
  };
  for (const Case& one : cases) {
    const core::DryRun run = judge(text({}), one.reply);
    EXPECT_FALSE(run.allowed);
    EXPECT_EQ(run.refusal_reason, one.reason) << run.refusal_message;
    EXPECT_NE(run.refusal_message.find(one.part), std::string::npos) << run.refusal_message;
    EXPECT_EQ(run.job_generation, 7);
    EXPECT_EQ(run.asked, kAsked);
  }
}

TEST(DryRun, ALongRefusalIsCutAndItsControlCharactersAreShown) {
  const core::DryRun run = judge(text({}), refusal(403, "Forbidden", "\\u001b[31mred" + std::string(4000, 'x')));
  EXPECT_LE(run.refusal_message.size(), 1500U);
  EXPECT_EQ(run.refusal_message.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace verl::controller
