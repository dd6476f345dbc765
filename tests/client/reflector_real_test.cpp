// The reflector, leader election and Events against a real kube-apiserver, a crash of it included.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <thread>

#include "kube/client/http_api.h"
#include "kube/client/load_config.h"
#include "kube/client/sigpipe.h"
#include "kube/runtime/event_recorder.h"
#include "kube/runtime/leader_elector.h"
#include "kube/runtime/reflector.h"
#include "kube/runtime/reflector_thread.h"

namespace verl::kube {
namespace {

using nlohmann::json;

const Resource kMaps{"", "v1", "ConfigMap", "configmaps", true};
constexpr const char* kSpace = "reflector-test";
constexpr int kMany = 2000;

struct Text {
  std::string text{};
};
Result<Text> decode_text(std::string_view json_text) {
  const auto document = json::parse(json_text, nullptr, false);
  if (!document.is_object() || !document.contains("data")) return Text{};
  return Text{.text = document["data"].value("k", "")};
}

std::unique_ptr<Api> new_client() {
  const auto config = load_client_config({}, client_environment(environ));
  EXPECT_TRUE(config.has_value()) << config.error().message;
  auto api = connect(config.value_or(ClientConfig{}), {});
  EXPECT_TRUE(api.has_value()) << api.error().message;
  return std::move(*api);
}

std::string map_body(const std::string& name, const std::string& value) {
  return json{{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", {{"name", name}}}, {"data", {{"k", value}}}}.dump();
}
Request write(Method method, const std::string& name, const std::string& value) {
  return {.method = method, .path = resource_path(kMaps, kSpace, method == Method::Post ? "" : name),
          .content_type = method == Method::Patch ? "application/merge-patch+json" : "application/json", .body = map_body(name, value)};
}

bool within(Seconds limit, const std::function<bool()>& holds) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
  }
  return true;
}

class RealReflector : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    ignore_sigpipe();
    const auto api = new_client();
    const auto made = api->send({.method = Method::Post, .path = "/api/v1/namespaces", .content_type = "application/json",
                                 .body = R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"reflector-test"}})"}, {});
    ASSERT_TRUE(made && (made->status == 201 || made->status == 409));
    std::atomic<int> next{0};
    std::atomic<int> failed{0};
    std::vector<std::jthread> makers;
    for (int i = 0; i < 4; ++i) {
      makers.emplace_back([&] {
        for (int n = next++; n < kMany; n = next++) {
          const auto reply = api->send(write(Method::Post, "many-" + std::to_string(n), "0"), {});
          if (!reply || (reply->status != 201 && reply->status != 409)) ++failed;
        }
      });
    }
    makers.clear();
    ASSERT_EQ(failed, 0);
  }

  std::unique_ptr<Api> api{new_client()};
  SystemClock clock{};
};

TEST_F(RealReflector, L3_W2_W3_ListsTwoThousandByPagesAndSeesEveryChange) {
  for (const auto first : {FirstList::Paged, FirstList::FromCache}) {
    Reflector<Text> maps(*api, clock, {.resource = kMaps, .name_space = kSpace}, decode_text, {}, {.first_list = first});
    ReflectorThread thread(maps);
    const auto start = clock.steady();
    ASSERT_TRUE(within(Seconds{30}, [&] { return maps.synced(); })) << maps.trouble();
    std::printf("listed %zu objects in %lld ms, %llu page(s)\n", maps.snapshot().size(),
                static_cast<long long>(std::chrono::duration_cast<std::chrono::milliseconds>(clock.steady() - start).count()),
                static_cast<unsigned long long>(maps.counts().pages));
    EXPECT_GE(maps.snapshot().size(), static_cast<std::size_t>(kMany));
    EXPECT_GE(maps.counts().pages, first == FirstList::Paged ? 4U : 1U);

    const ObjectKey key{kSpace, "seen"};
    ASSERT_TRUE(api->send(write(Method::Post, key.name, "1"), {}));
    EXPECT_TRUE(within(Seconds{10}, [&] { const auto one = maps.snapshot().find(key); return one && one->text == "1"; }));
    ASSERT_TRUE(api->send(write(Method::Patch, key.name, "2"), {}));
    EXPECT_TRUE(within(Seconds{10}, [&] { const auto one = maps.snapshot().find(key); return one && one->text == "2"; }));
    ASSERT_TRUE(api->send({.method = Method::Delete, .path = resource_path(kMaps, kSpace, key.name)}, {}));
    EXPECT_TRUE(within(Seconds{10}, [&] { return !maps.snapshot().find(key); }));
    const auto stopping = clock.steady();
    thread.join();
    EXPECT_LT(clock.steady() - stopping, Seconds{1});
  }
}

TEST_F(RealReflector, O3_EveryOwnWriteIsSeenAndAForcedRelistIsFresh) {
  Reflector<Text> maps(*api, clock, {.resource = kMaps, .name_space = kSpace}, decode_text);
  ReflectorThread thread(maps);
  ASSERT_TRUE(within(Seconds{30}, [&] { return maps.synced(); }));
  const ObjectKey key{kSpace, "many-7"};
  for (int i = 1; i <= 50; ++i) {
    const std::string value = "own-" + std::to_string(i);
    const auto reply = api->send(write(Method::Patch, key.name, value), {});
    ASSERT_TRUE(reply && reply->status == 200);
    const auto metadata = json::parse(reply->body)["metadata"];
    maps.expect(key, metadata["uid"].get<std::string>(), metadata["resourceVersion"].get<std::string>());
    std::optional<Snapshot<Text>> caught_up;
    ASSERT_TRUE(within(Seconds{10}, [&] {
      auto snapshot = maps.snapshot();
      if (snapshot.is_behind(key)) return false;
      caught_up = std::move(snapshot);
      return true;
    }));
    ASSERT_EQ(caught_up->find(key)->text, value) << "a snapshot that is not behind shows the write";
  }
  const Instant acquired = clock.steady();
  maps.force_relist();
  EXPECT_TRUE(within(Seconds{10}, [&] { return maps.fresh_since(acquired); }));
}

TEST_F(RealReflector, W8_W17_RidesOutAKilledApiserver) {
  Reflector<Text> maps(*api, clock, {.resource = kMaps, .name_space = kSpace}, decode_text);
  ReflectorThread thread(maps);
  ASSERT_TRUE(within(Seconds{30}, [&] { return maps.synced(); }));
  const auto lists = maps.counts().lists;
  ASSERT_EQ(std::system(VERL_SOURCE_DIR "/scripts/control-plane restart kube-apiserver >/dev/null 2>&1"), 0);
  ASSERT_TRUE(within(Seconds{30}, [&] {
    const auto reply = api->send(write(Method::Patch, "many-9", "after"), {});
    return reply && reply->status == 200;
  }));
  EXPECT_TRUE(within(Seconds{45}, [&] { const auto one = maps.snapshot().find({kSpace, "many-9"}); return one && one->text == "after"; })) << maps.trouble();
  EXPECT_TRUE(within(Seconds{90}, [&] { return maps.trouble().empty(); })) << maps.trouble();
  std::printf("after the restart: %llu further list(s), %llu watches\n", static_cast<unsigned long long>(maps.counts().lists - lists),
              static_cast<unsigned long long>(maps.counts().watches));
}

TEST_F(RealReflector, E2_E8_TwoElectorsHandOneLeaseOver) {
  const auto options = [](const char* identity) {
    return LeaderOptions{.name_space = kSpace, .name = "election", .identity = identity,
                         .lease_duration = Seconds{4}, .renew_deadline = Seconds{3}, .retry_period = Seconds{1}};
  };
  LeaderElector first(*api, clock, options("first"), {});
  LeaderElector second(*api, clock, options("second"), {});
  std::jthread first_thread([&](std::stop_token stop) { (void)first.run(std::move(stop)); });
  ASSERT_TRUE(within(Seconds{10}, [&] { return first.is_leading(); }));
  std::jthread second_thread([&](std::stop_token stop) { (void)second.run(std::move(stop)); });
  const auto until = clock.steady() + Seconds{6};
  while (clock.steady() < until) {
    ASSERT_TRUE(first.is_leading());
    ASSERT_FALSE(second.is_leading());
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
  }
  const auto stopping = clock.steady();
  first_thread.request_stop();
  first_thread.join();
  ASSERT_TRUE(within(Seconds{10}, [&] { return second.is_leading(); }));
  const auto took = clock.steady() - stopping;
  std::printf("hand-over after a clean release: %lld ms\n", static_cast<long long>(std::chrono::duration_cast<std::chrono::milliseconds>(took).count()));
  EXPECT_LT(took, Seconds{4}) << "the lease did not have to expire";
  const auto lease = api->send({.path = resource_path(kLeases, kSpace, "election")}, {});
  ASSERT_TRUE(lease);
  EXPECT_EQ(json::parse(lease->body)["spec"]["leaseTransitions"], 1);
}

TEST_F(RealReflector, EventsAreTakenByTheApiserver) {
  EventRecorder recorder(*api, clock, {.controller = "verl.run/operator", .instance = "test"}, {},
                         [](std::string_view line) { ADD_FAILURE() << line; });
  const ObjectReference job{.api_version = "verl.run/v1alpha1", .kind = "VerlJob", .name_space = kSpace, .name = "qwen", .uid = "u"};
  const ObjectReference node{.api_version = "v1", .kind = "Node", .name = "gpu-1", .uid = "n"};
  for (int i = 0; i < 3; ++i) recorder.record({.regarding = job, .reason = "Placed", .action = "Placed", .note = "4 nodes"});
  recorder.record({.regarding = node, .related = job, .type = EventType::Warning, .reason = "NotReady", .action = "Judged", .note = std::string(3000, 'x')});
  ASSERT_TRUE(recorder.flush(Seconds{10}));
  EXPECT_EQ(recorder.counts(), (EventCounts{.told = 4, .written = 3}));
  const auto listed = api->send({.path = resource_path(kEvents, kSpace)}, {});
  ASSERT_TRUE(listed);
  const json document = json::parse(listed->body);
  int found = 0;
  for (const auto& event : document["items"]) {
    if (event["reason"] != "Placed") continue;
    ++found;
    EXPECT_EQ(event["series"]["count"], 2) << "the second telling is written, the third waits for its turn";
  }
  EXPECT_EQ(found, 1) << listed->body;
}

}  // namespace
}  // namespace verl::kube
