// Reading a cluster, against an Api that answers from a table.
#include "kubectl-verl/take_snapshot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "operator/snapshot/assemble.h"

namespace verl::cli {
namespace {

using nlohmann::json;

kube::Reply list_of(const std::string& kind, const std::string& version, json items, const std::string& more = "", const char* date = "2026-11-30T10:42:07Z") {
  const json body{{"kind", kind + "List"}, {"apiVersion", version}, {"metadata", {{"resourceVersion", "1"}, {"continue", more}}}, {"items", std::move(items)}};
  return {.status = 200, .body = body.dump(), .date = parse_rfc3339(date)};
}

kube::Reply refusal(int code, const std::string& reason, const std::string& message) {
  return {.status = code, .body = json{{"kind", "Status"}, {"apiVersion", "v1"}, {"status", "Failure"}, {"reason", reason}, {"code", code}, {"message", message}}.dump(),
          .date = parse_rfc3339("2026-11-30T10:42:07Z")};
}

class TableApi final : public kube::Api {
 public:
  TableApi() {
    answers["/api/v1/configmaps"] = {list_of("ConfigMap", "v1", json::array({{{"metadata", {{"name", "verl-operator"}, {"namespace", "verl-system"}}},
                                                                             {"data", {{"config.yaml", "levels:\n- {name: rack, key: example.com/rack}\n"}}}}}))};
    answers["/api/v1/nodes"] = {list_of("Node", "v1", json::array())};
    answers["/api/v1/pods"] = {list_of("Pod", "v1", json::array())};
    answers["/api/v1/resourcequotas"] = {list_of("ResourceQuota", "v1", json::array())};
    answers["/apis/scheduling.k8s.io/v1/priorityclasses"] = {list_of("PriorityClass", "scheduling.k8s.io/v1", json::array())};
    answers["/apis/coordination.k8s.io/v1/namespaces/verl-system/leases"] = {list_of("Lease", "coordination.k8s.io/v1", json::array(), "", "2026-11-30T10:42:09Z")};
    answers["/apis/verl.run/v1alpha1/verljobs"] = {list_of("VerlJob", "verl.run/v1alpha1", json::array())};
    answers["/apis/verl.run/v1alpha1/nodereadinesses"] = {list_of("NodeReadiness", "verl.run/v1alpha1", json::array())};
    answers["/apis/verl.run/v1alpha1/readinesspolicies"] = {list_of("ReadinessPolicy", "verl.run/v1alpha1", json::array())};
  }

  std::map<std::string, std::vector<kube::Reply>> answers{};  // the last one stays
  std::vector<std::string> asked{};

  Result<kube::Reply> send(const kube::Request& request, std::stop_token) override {
    EXPECT_EQ(request.method, kube::Method::Get);
    asked.push_back(request.path);
    const auto found = answers.find(request.path);
    if (found == answers.end() || found->second.empty()) return failure(ErrorCode::Unavailable, "no answer for " + request.path);
    kube::Reply reply = found->second.front();
    if (found->second.size() > 1) found->second.erase(found->second.begin());
    return reply;
  }
  Result<bool> stream(const kube::Request&, kube::StreamSink&, std::stop_token) override { return failure(ErrorCode::Invalid, "not here"); }
};

const FakeClock kClock(*parse_rfc3339("2001-01-01T00:00:00Z"));

json node(const std::string& name) { return {{"metadata", {{"name", name}}}}; }

TEST(TakeSnapshot, TakesTheTimeFromTheAnswerThatBroughtTheHeartbeats) {
  TableApi api;
  const auto document = take_snapshot(api, {}, kClock, {});
  ASSERT_TRUE(document.has_value()) << document.error().message;
  EXPECT_EQ(*document, (json{{"apiVersion", "verl.run/v1alpha1"},
                             {"kind", "ClusterSnapshot"},
                             {"serverTime", "2026-11-30T10:42:09Z"},
                             {"config", {{"levels", json::array({{{"name", "rack"}, {"key", "example.com/rack"}}})}, {"namespace", "verl-system"}, {"gpuResource", "nvidia.com/gpu"},
                                         {"ports", {{"first", 20000}, {"last", 29999}}}, {"heartbeat", {{"idleSeconds", 30}, {"busySeconds", 10}}}}},
                             {"items", json::array()}}));
}

TEST(TakeSnapshot, NeverAsksForSecretsAndAsksForHeartbeatsLast) {
  TableApi api;
  ASSERT_TRUE(take_snapshot(api, {}, kClock, {}).has_value());
  for (const std::string& path : api.asked) EXPECT_EQ(path.find("secret"), std::string::npos);
  EXPECT_EQ(api.asked.back(), "/apis/coordination.k8s.io/v1/namespaces/verl-system/leases");
}

TEST(TakeSnapshot, FollowsPagesAndBeginsAgainWhenTheyExpire) {
  TableApi api;
  const kube::Reply first = list_of("Node", "v1", json::array({node("a")}), "more");
  api.answers["/api/v1/nodes"] = {first, refusal(410, "Expired", "too old"), first, list_of("Node", "v1", json::array({node("b")}))};
  const auto document = take_snapshot(api, {}, kClock, {});
  ASSERT_TRUE(document.has_value()) << document.error().message;
  json names = json::array();
  for (const json& item : (*document)["items"]) names.push_back(item["metadata"]["name"]);
  EXPECT_EQ(names, json::array({"a", "b"}));
}

TEST(TakeSnapshot, GivesUpOnPagesThatExpireForEver) {
  TableApi api;
  api.answers["/api/v1/nodes"] = {refusal(410, "Expired", "too old")};
  const auto document = take_snapshot(api, {}, kClock, {});
  ASSERT_FALSE(document.has_value());
}

TEST(TakeSnapshot, RecordsWhatItMayNotRead) {
  TableApi api;
  const std::string says = "leases.coordination.k8s.io is forbidden: User \"u\" cannot list resource \"leases\"";
  api.answers["/apis/coordination.k8s.io/v1/namespaces/verl-system/leases"] = {refusal(403, "Forbidden", says)};
  const auto document = take_snapshot(api, {.extent = Extent::Readiness}, kClock, {});
  ASSERT_TRUE(document.has_value());
  ASSERT_EQ((*document)["notRead"].size(), 1U);
  EXPECT_EQ((*document)["notRead"][0]["resource"], "leases.coordination.k8s.io");
  EXPECT_NE((*document)["notRead"][0]["why"].get<std::string>().find(says), std::string::npos);
  snapshot::Export held{};
  ASSERT_TRUE(snapshot::add_document(held, *document).has_value());
  EXPECT_FALSE(held.snapshot.heartbeats_known);
}

TEST(TakeSnapshot, SaysThatTheOperatorIsNotInstalledWhenItsKindsAreAbsent) {
  TableApi api;
  api.answers["/apis/verl.run/v1alpha1/nodereadinesses"] = {{.status = 404, .body = "404 page not found\n", .date = parse_rfc3339("2026-11-30T10:42:07Z")}};
  const auto document = take_snapshot(api, {.extent = Extent::Readiness}, kClock, {});
  ASSERT_TRUE(document.has_value()) << document.error().message;
  EXPECT_NE((*document)["notRead"][0]["why"].get<std::string>().find("is verl-operator installed?"), std::string::npos) << *document;
}

TEST(TakeSnapshot, DoesNotTakeItsOwnClockForTheServers) {
  TableApi api;
  for (auto& entry : api.answers) {
    for (kube::Reply& reply : entry.second) reply.date.reset();
  }
  const auto document = take_snapshot(api, {}, kClock, {});
  ASSERT_TRUE(document.has_value());
  snapshot::Export held{};
  ASSERT_TRUE(snapshot::add_document(held, *document).has_value());
  EXPECT_FALSE(held.snapshot.heartbeats_known);
}

TEST(TakeSnapshot, EndsWhenTheServerCannotBeReached) {
  TableApi api;
  api.answers["/api/v1/pods"].clear();
  const auto document = take_snapshot(api, {}, kClock, {});
  ASSERT_FALSE(document.has_value());
  EXPECT_EQ(document.error(), (Error{.code = ErrorCode::Unavailable, .message = "list pods: no answer for /api/v1/pods"}));
}

TEST(TakeSnapshot, AsksWhichOfTwoOperators) {
  TableApi api;
  const json data{{"config.yaml", "levels: []\n"}};
  api.answers["/api/v1/configmaps"] = {list_of("ConfigMap", "v1", json::array({{{"metadata", {{"namespace", "a"}}}, {"data", data}}, {{"metadata", {{"namespace", "b"}}}, {"data", data}}}))};
  const auto document = take_snapshot(api, {}, kClock, {});
  ASSERT_FALSE(document.has_value());
  EXPECT_EQ(document.error().message, "several operator configurations were found, in a, b; choose one by --operator-namespace");
}

TEST(TakeSnapshot, LeavesOutWhatNoDecisionNeeds) {
  TableApi api;
  const json fields = json::array({{{"manager", "m"}}});
  api.answers["/api/v1/pods"] = {list_of("Pod", "v1", json::array({{{"metadata", {{"name", "p"}, {"managedFields", fields}, {"annotations", {{"kubectl.kubernetes.io/last-applied-configuration", "x"}}}}},
                                                                   {"spec", {{"containers", json::array({{{"name", "c"}, {"env", json::array({{{"name", "TOKEN"}, {"value", "secret"}}})}, {"args", json::array({"--token=x"})}}})}}}}}))};
  api.answers["/apis/coordination.k8s.io/v1/namespaces/verl-system/leases"] = {list_of("Lease", "coordination.k8s.io/v1", json::array({{{"metadata", {{"name", "l"}, {"managedFields", fields}}}}}))};
  const auto document = take_snapshot(api, {}, kClock, {});
  ASSERT_TRUE(document.has_value());
  EXPECT_EQ((*document)["items"][0], (json{{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", {{"name", "p"}, {"annotations", json::object()}}}, {"spec", {{"containers", json::array({{{"name", "c"}}})}}}}));
  EXPECT_TRUE((*document)["items"][1]["metadata"].contains("managedFields"));
}

TEST(TakeSnapshot, KeepsNoValueOfATemplatesEnvironment) {
  TableApi api;
  const auto job = [](const char* value) -> json {
    const json env = json::array({{{"name", "WANDB_API_KEY"}, {"value", value}}, {{"name", "REF"}, {"valueFrom", {{"secretKeyRef", {{"name", "s"}, {"key", "k"}}}}}}});
    return {{"metadata", {{"name", "j"}, {"annotations", json::object()}}},
            {"spec", {{"nccl", {{"env", {{"NCCL_DEBUG", "INFO"}}}}},
                      {"pools", json::array({{{"name", "main"}, {"template", {{"spec", {{"containers", json::array({{{"name", "ray"}, {"env", env}}})},
                                                                                       {"initContainers", json::array({{{"name", "load"}, {"env", env}}})}}}}}}})}}}};
  };
  json served = job("secret");
  served["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"] = "{\"value\":\"secret\"}";
  api.answers["/apis/verl.run/v1alpha1/verljobs"] = {list_of("VerlJob", "verl.run/v1alpha1", json::array({served}))};
  const auto document = take_snapshot(api, {}, kClock, {});
  ASSERT_TRUE(document.has_value());
  json wanted = job("");
  wanted["apiVersion"] = "verl.run/v1alpha1";
  wanted["kind"] = "VerlJob";
  EXPECT_EQ((*document)["items"][0], wanted);
}

}  // namespace
}  // namespace verl::cli
