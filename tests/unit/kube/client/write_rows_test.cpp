// What a refused write means, and what is read back before anything is said about it.
#include "kube/client/writes.h"
#include "kube/protocol/api_status.h"
#include "tests/unit/kube/client/client_fixture.h"

namespace verl::kube {
namespace {

using scripted::json;
using scripted::ScriptedServer;

const Resource kPod{.version = "v1", .kind = "Pod", .plural = "pods"};
const Target kOne{.resource = kPod, .name_space = "rl", .name = "qwen-0"};
const Target kAll{.resource = kPod, .name_space = "rl"};
constexpr const char* kOnePath = "/api/v1/namespaces/rl/pods/qwen-0";
constexpr const char* kAllPath = "/api/v1/namespaces/rl/pods";

std::string status(int code, const std::string& reason, const std::string& details = "{}") {
  return R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":"refused","reason":")" + reason + R"(","code":)" + std::to_string(code) +
         R"(,"details":)" + details + "}";
}

std::string pod(const std::string& uid, const std::string& version, const std::string& owner = "") {
  return R"({"kind":"Pod","metadata":{"name":"qwen-0","namespace":"rl","uid":")" + uid + R"(","resourceVersion":")" + version + "\"" +
         (owner.empty() ? "" : R"(,"ownerReferences":[{"uid":")" + owner + "\"}]") + "}}";
}

Result<CreateResult> create(ScriptedServer& server) {
  TestClient client(server);
  return create_owned(*client.connect(), kAll, "qwen-0", "owner-1", "{}", {.field_manager = "verl-operator"}, {});
}

TEST(Writes, ACreatedObjectIsReturnedWithItsUid) {
  ScriptedServer server;
  server.expect({.method = "POST", .path = kAllPath, .query = {{"fieldManager", "verl-operator"}, {"fieldValidation", "Strict"}}, .answer = json(201, pod("u1", "7"))});
  const auto made = create(server);
  ASSERT_TRUE(made.has_value()) << made.error().message;
  EXPECT_TRUE(made->created);
  EXPECT_EQ(made->object, (WrittenObject{.name_space = "rl", .name = "qwen-0", .uid = "u1", .resource_version = "7"}));
}

TEST(Writes, ASuccessWithoutUidIsNoSuccess) {
  ScriptedServer server;
  server.expect({.method = "POST", .path = kAllPath, .answer = json(201, R"({"kind":"Pod","metadata":{}})")});
  EXPECT_EQ(create(server).error().message, "the server's answer has no metadata.uid");
}

TEST(Writes, R7_AnExistingObjectOfTheSameOwnerIsSuccess) {
  ScriptedServer server;
  server.expect({.method = "POST", .path = kAllPath, .answer = json(409, status(409, "AlreadyExists"))});
  server.expect({.path = kOnePath, .answer = json(200, pod("u1", "7", "owner-1"))});
  const auto made = create(server);
  ASSERT_TRUE(made.has_value()) << made.error().message;
  EXPECT_FALSE(made->created);
}

TEST(Writes, R7_AnExistingObjectOfAnotherOwnerIsAConflict) {
  ScriptedServer server;
  server.expect({.method = "POST", .path = kAllPath, .answer = json(409, status(409, "AlreadyExists"))});
  server.expect({.path = kOnePath, .answer = json(200, pod("u1", "7", "owner-2"))});
  EXPECT_EQ(create(server).error(),
            (Error{.code = ErrorCode::Conflict, .message = "pods rl/qwen-0 exists already and was not made for this owner; delete or rename it"}));
}

TEST(Writes, R8_AConflictReadsAgainAndRecomputesAtMostFiveTimes) {
  for (const bool ends_well : {true, false}) {
    ScriptedServer server;
    const int conflicts = ends_well ? 5 : 6;
    server.expect({.path = kOnePath, .answer = json(200, pod("u1", "7")), .times = 6});
    server.expect({.method = "PUT", .path = kOnePath, .answer = json(409, status(409, "Conflict")), .times = conflicts});
    if (ends_well) server.expect({.method = "PUT", .path = kOnePath, .answer = json(200, pod("u1", "8"))});
    TestClient client(server);
    const auto api = client.connect();
    int computed = 0;
    const auto change = [&](const std::string& current) -> Result<std::string> {
      ++computed;
      return current;
    };
    const auto reply = update_object(*api, kOne, change, {}, *client.sleeper, [] { return 0.5; }, {});
    EXPECT_EQ(computed, 6);
    EXPECT_EQ(client.sleeper->waits().size(), 5u);
    EXPECT_EQ(client.sleeper->waits().at(1), std::chrono::milliseconds(30));
    EXPECT_EQ(reply.has_value(), ends_well);
    if (!ends_well) {
      EXPECT_EQ(reply.error().code, ErrorCode::Conflict);
    }
  }
}

TEST(Writes, R9_R10_ADeleteOfWhatIsGoneOrReplacedIsSuccess) {
  struct Case {
    int answer;
    int read_back;  // 0: none
    std::string body;
    std::optional<DeleteEnd> end;
  };
  const std::vector<Case> cases = {
      {200, 0, "", DeleteEnd::Deleted},
      {202, 0, "", DeleteEnd::Deleted},
      {404, 0, "", DeleteEnd::AlreadyGone},
      {409, 404, "{}", DeleteEnd::AlreadyGone},
      {409, 200, pod("u2", "9"), DeleteEnd::AlreadyGone},
      {409, 200, pod("u1", "9"), std::nullopt},
      {403, 0, "", std::nullopt},
  };
  for (const Case& one : cases) {
    ScriptedServer server;
    server.expect({.method = "DELETE", .path = kOnePath, .answer = json(one.answer, status(one.answer, "X"))});
    if (one.read_back != 0) server.expect({.path = kOnePath, .answer = json(one.read_back, one.body)});
    TestClient client(server);
    const auto ended = delete_exactly(*client.connect(), kOne, {.uid = "u1", .resource_version = "7"}, {});
    ASSERT_EQ(ended.has_value(), one.end.has_value()) << one.answer << " " << one.read_back;
    if (one.end.has_value()) {
      EXPECT_EQ(*ended, *one.end);
    }
    EXPECT_EQ(server.seen().at(0).body, R"({"apiVersion":"v1","kind":"DeleteOptions","preconditions":{"resourceVersion":"7","uid":"u1"}})");
  }
}

TEST(Writes, R11_AnApplyConflictNamesManagerAndField) {
  ScriptedServer server;
  server.expect({.method = "PATCH",
                 .path = kOnePath,
                 .query = {{"fieldManager", "verl-operator"}},
                 .absent = {"force"},
                 .answer = json(409, status(409, "Conflict", R"({"causes":[{"reason":"FieldManagerConflict","message":"conflict with \"kubectl\" using v1","field":".spec.x"}]})"))});
  TestClient client(server);
  const auto reply = apply_object(*client.connect(), kOne, "{}", {.field_manager = "verl-operator"}, {});
  EXPECT_EQ(reply.error(), (Error{.code = ErrorCode::Conflict, .message = "applying pods rl/qwen-0: other field managers stand against it: kubectl holds .spec.x"}));
  EXPECT_EQ(server.seen().at(0).header("content-type"), "application/apply-patch+yaml");
}

TEST(Writes, R12_R13_R14_OtherRefusalsKeepTheirKindAndSayWhatTheServerSaid) {
  struct Case {
    int code;
    std::string body;
    ErrorCode kind;
    std::string message;
    bool absent;
  };
  const std::string causes = R"({"name":"qwen","causes":[{"field":"a","message":"1"},{"field":"b","message":"2"},{"field":"c","message":"3"},{"field":"d","message":"4"}]})";
  const std::vector<Case> cases = {
      {403, status(403, "Forbidden", R"({"name":"qwen"})"), ErrorCode::Denied, "x: Forbidden (403): refused", false},
      {422, status(422, "Invalid", causes), ErrorCode::Invalid, "x: Invalid (422): refused; a: 1; b: 2; c: 3", false},
      {404, "404 page not found\n", ErrorCode::NotFound, "x: 404: 404 page not found", true},
      {404, status(404, "NotFound", R"({"name":"qwen"})"), ErrorCode::NotFound, "x: NotFound (404): refused", false},
      {504, status(504, "Timeout"), ErrorCode::Timeout, "x: Timeout (504): refused", false},
      {500, "", ErrorCode::Unavailable, "x: 500", false},
  };
  for (const Case& one : cases) {
    const ApiStatus decoded = decode_status({.status = one.code, .body = one.body});
    EXPECT_EQ(error_of(decoded, "x"), (Error{.code = one.kind, .message = one.message}));
    EXPECT_EQ(is_resource_absent(decoded), one.absent) << one.body;
  }
}

}  // namespace
}  // namespace verl::kube
