// Every verb once against a real kube-apiserver, with the administrator's certificate and with a service account's token.
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "kube/client/http_api.h"
#include "kube/client/load_config.h"
#include "kube/client/sigpipe.h"
#include "kube/client/writes.h"
#include "kube/protocol/api_status.h"
#include "kube/protocol/verbs.h"
#include "tests/scripted-server/certificates.h"

namespace verl::kube {
namespace {

using nlohmann::json;

const Resource kConfigMap{.version = "v1", .kind = "ConfigMap", .plural = "configmaps"};
const Resource kNamespace{.version = "v1", .kind = "Namespace", .plural = "namespaces", .namespaced = false};
const Resource kNode{.version = "v1", .kind = "Node", .plural = "nodes", .namespaced = false};
const Resource kServiceAccount{.version = "v1", .kind = "ServiceAccount", .plural = "serviceaccounts"};
constexpr const char* kSpace = "client-test";
const WriteOptions kManager{.field_manager = "client-test"};

Target map_named(const std::string& name) { return {.resource = kConfigMap, .name_space = kSpace, .name = name}; }
const Target kMaps{.resource = kConfigMap, .name_space = kSpace};

std::string map_body(const std::string& name, const std::string& value = "1") {
  return json{{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", name}}}, {"data", {{"k", value}}}}.dump();
}

ClientConfig admin_config() {
  const auto config = load_client_config({}, client_environment(environ));
  EXPECT_TRUE(config.has_value()) << config.error().message;
  return config.value_or(ClientConfig{});
}

class RealApiserver : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    ignore_sigpipe();
    api_ = connect(admin_config(), {}).value();
    const Reply made = send(create_request({.resource = kNamespace}, R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"client-test"}})", kManager));
    ASSERT_TRUE(made.status == 201 || made.status == 409) << made.body;
  }
  static void TearDownTestSuite() { api_.reset(); }

  static Reply send(const Request& request) {
    const auto reply = api_->send(request, {});
    EXPECT_TRUE(reply.has_value()) << reply.error().message;
    return reply.value_or(Reply{});
  }
  static json send_for_json(const Request& request, int status) {
    const Reply reply = send(request);
    EXPECT_EQ(reply.status, status) << reply.body;
    return json::parse(reply.body, nullptr, false);
  }
  static std::unique_ptr<Api> api_;
};
std::unique_ptr<Api> RealApiserver::api_;

TEST_F(RealApiserver, CreatesGetsReplacesAndPatches) {
  const json made = send_for_json(create_request(kMaps, map_body("verbs"), kManager), 201);
  EXPECT_EQ(made["metadata"]["managedFields"][0]["manager"], "client-test");
  const Reply read = send(get_request(map_named("verbs")));
  ASSERT_TRUE(read.date.has_value()) << "the server's clock is what heartbeats are judged by";
  EXPECT_LT(std::chrono::abs(*read.date - SystemClock().now()), std::chrono::seconds(5));
  json changed = json::parse(read.body);
  changed["data"]["k"] = "2";
  EXPECT_EQ(send_for_json(replace_request(map_named("verbs"), changed.dump(), kManager), 200)["data"]["k"], "2");
  const Reply stale = send(replace_request(map_named("verbs"), changed.dump(), kManager));
  EXPECT_EQ(decode_status(stale).reason, "Conflict");
  EXPECT_EQ(send_for_json(merge_patch_request(map_named("verbs"), R"({"data":{"k":null,"l":"3"}})", kManager), 200)["data"], (json{{"l", "3"}}));
}

TEST_F(RealApiserver, ListsPageByPage) {
  for (int i = 0; i < 5; ++i) {
    Request request = create_request(kMaps, map_body("page-" + std::to_string(i)), kManager);
    json body = json::parse(request.body);
    body["metadata"]["labels"] = {{"set", "page"}};
    request.body = body.dump();
    EXPECT_EQ(send(request).status, 201);
  }
  std::vector<std::string> names;
  std::string next;
  int pages = 0;
  do {
    const json page = send_for_json(list_request(kMaps, {.limit = 2, .continue_token = next, .label_selector = "set=page"}), 200);
    for (const json& item : page["items"]) names.push_back(item["metadata"]["name"]);
    next = page["metadata"].value("continue", "");
    ++pages;
  } while (!next.empty() && pages < 10);
  EXPECT_EQ(pages, 3);
  EXPECT_EQ(names, (std::vector<std::string>{"page-0", "page-1", "page-2", "page-3", "page-4"}));
}

TEST_F(RealApiserver, ALargeListComesCompressedAndWhole) {
  for (int i = 0; i < 4; ++i) EXPECT_EQ(send(create_request(kMaps, map_body("big-" + std::to_string(i), std::string(200000, 'x')), kManager)).status, 201);
  const json list = send_for_json(list_request(kMaps, {}), 200);
  EXPECT_GE(list["items"].size(), 4u);
}

TEST_F(RealApiserver, AppliesAndNamesTheManagerThatStandsAgainstIt) {
  EXPECT_TRUE(apply_object(*api_, map_named("apply"), map_body("apply"), {.field_manager = "one"}, {}).has_value());
  const auto refused = apply_object(*api_, map_named("apply"), map_body("apply", "2"), {.field_manager = "two"}, {});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error(), (Error{.code = ErrorCode::Conflict, .message = "applying configmaps client-test/apply: other field managers stand against it: one holds .data.k"}));
  const auto forced = apply_object(*api_, map_named("apply"), map_body("apply", "2"), {.field_manager = "two", .force = true}, {});
  ASSERT_TRUE(forced.has_value()) << forced.error().message;
  EXPECT_EQ(json::parse(forced->body)["data"]["k"], "2");
}

TEST_F(RealApiserver, WritesStatusAlone) {
  EXPECT_EQ(send(create_request({.resource = kNode}, R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"node-a"}})", kManager)).status, 201);
  const Target status{.resource = kNode, .name = "node-a", .subresource = "status"};
  const json patched = send_for_json(merge_patch_request(status, R"({"spec":{"unschedulable":true},"status":{"capacity":{"cpu":"8"}}})", kManager), 200);
  EXPECT_EQ(patched["status"]["capacity"]["cpu"], "8");
  EXPECT_FALSE(patched["spec"].contains("unschedulable")) << "the status path writes no spec";
  const json applied = send_for_json(
      apply_request(status, R"({"apiVersion":"v1","kind":"Node","metadata":{"name":"node-a"},"status":{"conditions":[{"type":"Ready","status":"True","reason":"x","message":"y"}]}})", kManager), 200);
  EXPECT_EQ(applied["status"]["conditions"][0]["type"], "Ready");
}

TEST_F(RealApiserver, ADryRunChangesNothing) {
  WriteOptions dry = kManager;
  dry.dry_run = true;
  EXPECT_EQ(send(create_request(kMaps, map_body("dry"), dry)).status, 201);
  EXPECT_EQ(send(get_request(map_named("dry"))).status, 404);
}

TEST_F(RealApiserver, DeletesExactlyWhatWasSeen) {
  const json first = send_for_json(create_request(kMaps, map_body("gone"), kManager), 201);
  const std::string uid = first["metadata"]["uid"];
  const std::string version = first["metadata"]["resourceVersion"];
  EXPECT_EQ(send(merge_patch_request(map_named("gone"), R"({"data":{"k":"2"}})", kManager)).status, 200);
  EXPECT_EQ(delete_exactly(*api_, map_named("gone"), {.uid = uid, .resource_version = version}, {}).error().code, ErrorCode::Conflict);
  EXPECT_EQ(*delete_exactly(*api_, map_named("gone"), {.uid = "11111111-1111-1111-1111-111111111111"}, {}), DeleteEnd::AlreadyGone);
  EXPECT_EQ(send(get_request(map_named("gone"))).status, 200) << "the wrong UID must have deleted nothing";
  EXPECT_EQ(*delete_exactly(*api_, map_named("gone"), {.uid = uid}, {}), DeleteEnd::Deleted);
  EXPECT_EQ(*delete_exactly(*api_, map_named("gone"), {.uid = uid}, {}), DeleteEnd::AlreadyGone);
}

TEST_F(RealApiserver, CreatingTwiceForTheSameOwnerIsOneObject) {
  const std::string owner = send_for_json(create_request(kMaps, map_body("owner"), kManager), 201)["metadata"]["uid"];
  json body = json::parse(map_body("owned"));
  body["metadata"]["ownerReferences"] = json::array({{{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"name", "owner"}, {"uid", owner}}});
  const auto first = create_owned(*api_, kMaps, "owned", owner, body.dump(), kManager, {});
  const auto second = create_owned(*api_, kMaps, "owned", owner, body.dump(), kManager, {});
  ASSERT_TRUE(first.has_value() && second.has_value());
  EXPECT_TRUE(first->created);
  EXPECT_FALSE(second->created);
  EXPECT_EQ(first->object.uid, second->object.uid);
  EXPECT_EQ(create_owned(*api_, kMaps, "owned", "another", body.dump(), kManager, {}).error().code, ErrorCode::Conflict);
}

TEST_F(RealApiserver, RefusalsDecode) {
  json bad = json::parse(map_body("Bad_Name"));
  const ApiStatus invalid = decode_status(send(create_request(kMaps, bad.dump(), kManager)));
  EXPECT_EQ(invalid.reason, "Invalid");
  ASSERT_FALSE(invalid.causes.empty());
  EXPECT_EQ(invalid.causes[0].field, "metadata.name");
  json unknown = json::parse(map_body("unknown"));
  unknown["datum"] = 1;
  const ApiStatus strict = decode_status(send(create_request(kMaps, unknown.dump(), kManager)));
  EXPECT_EQ(strict.code, 400);
  EXPECT_NE(strict.message.find("unknown field \"datum\""), std::string::npos) << strict.message;
  const ApiStatus missing = decode_status(send(get_request(map_named("no-such"))));
  EXPECT_EQ(missing.reason, "NotFound");
  EXPECT_FALSE(is_resource_absent(missing));
  EXPECT_TRUE(is_resource_absent(decode_status(send(get_request({.resource = {.group = "no.example", .version = "v1", .plural = "things"}, .name = "x"})))));
}

class FirstBytes final : public StreamSink {
 public:
  bool on_reply(int status, std::optional<Seconds>, std::optional<Timestamp>) override {
    status_ = status;
    return true;
  }
  bool on_bytes(std::string_view bytes) override {
    const std::lock_guard lock(mutex_);
    text_ += bytes;
    changed_.notify_all();
    return true;
  }
  bool wait_for(const std::string& part) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(10), [&] { return text_.find(part) != std::string::npos; });
  }
  int status() const { return status_; }

 private:
  std::mutex mutex_{};
  std::condition_variable changed_{};
  std::string text_{};
  int status_{0};
};

TEST_F(RealApiserver, AWatchDeliversAndEndsWithinASecondOfAStop) {
  FirstBytes sink;
  std::stop_source stop;
  Result<bool> ended = true;
  Request watch = list_request(kMaps, {.limit = 0});
  watch.query.push_back({"watch", "true"});
  watch.timeout = Seconds(60);
  std::thread watcher([&] { ended = api_->stream(watch, sink, stop.get_token()); });
  EXPECT_EQ(send(create_request(kMaps, map_body("watched"), kManager)).status, 201);
  EXPECT_TRUE(sink.wait_for("\"watched\""));
  const auto start = std::chrono::steady_clock::now();
  stop.request_stop();
  watcher.join();
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
  EXPECT_EQ(sink.status(), 200);
  ASSERT_FALSE(ended.has_value());
  EXPECT_EQ(ended.error().code, ErrorCode::Cancelled);
}

TEST_F(RealApiserver, AServiceAccountsTokenAuthenticatesAndIsDeniedWhatItMayNot) {
  EXPECT_EQ(send(create_request({.resource = kServiceAccount, .name_space = kSpace}, R"({"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"agent"}})", kManager)).status, 201);
  const Target token{.resource = kServiceAccount, .name_space = kSpace, .name = "agent", .subresource = "token"};
  const json made = send_for_json(create_request(token, R"({"apiVersion":"authentication.k8s.io/v1","kind":"TokenRequest","spec":{"expirationSeconds":600}})", {}), 201);
  ClientConfig config = admin_config();
  config.certificate = {};
  config.key = {};
  config.token = made["status"]["token"];
  const auto agent = connect(config, {});
  ASSERT_TRUE(agent.has_value());
  const Target review{.resource = {.group = "authentication.k8s.io", .version = "v1", .plural = "selfsubjectreviews", .namespaced = false}};
  const auto who = (*agent)->send(create_request(review, R"({"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"})", {}), {});
  ASSERT_TRUE(who.has_value()) << who.error().message;
  EXPECT_EQ(json::parse(who->body)["status"]["userInfo"]["username"], "system:serviceaccount:client-test:agent");
  const auto denied = (*agent)->send(list_request(kMaps, {}), {});
  ASSERT_TRUE(denied.has_value());
  EXPECT_EQ(decode_status(*denied).reason, "Forbidden");
  config.token = "nonsense";
  const auto stranger = connect(config, {});
  EXPECT_EQ((*stranger)->send(list_request(kMaps, {}), {})->status, 401);
}

TEST_F(RealApiserver, ImpersonationIsUnderstood) {
  ClientConfig config = admin_config();
  config.impersonation = {.user = "jane", .groups = {"g1"}, .extra = {{"example.com/team", {"rl"}}}};
  const auto jane = connect(config, {});
  const Target review{.resource = {.group = "authentication.k8s.io", .version = "v1", .plural = "selfsubjectreviews", .namespaced = false}};
  const auto who = (*jane)->send(create_request(review, R"({"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"})", {}), {});
  ASSERT_TRUE(who.has_value()) << who.error().message;
  const json user = json::parse(who->body)["status"]["userInfo"];
  EXPECT_EQ(user["username"], "jane");
  EXPECT_EQ(user["extra"]["example.com/team"], json::array({"rl"}));
}

TEST_F(RealApiserver, AnotherAuthorityIsRefused) {
  ClientConfig config = admin_config();
  config.authority = {.text = scripted::CertificateAuthority().pem()};
  const auto wrong = connect(config, {});
  ASSERT_TRUE(wrong.has_value());
  const auto reply = (*wrong)->send(get_request(map_named("x")), {});
  ASSERT_FALSE(reply.has_value());
  EXPECT_EQ(reply.error().code, ErrorCode::Denied);
  EXPECT_NE(reply.error().message.find("certificate authority"), std::string::npos);
}

}  // namespace
}  // namespace verl::kube
