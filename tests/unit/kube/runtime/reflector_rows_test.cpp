// Rows L, W, B and O end to end: the reflector, the client and real TLS against a scripted server. Each expectation is the exact next
// request; one that was not foreseen fails the test.
#include <gtest/gtest.h>

#include <mutex>

#include "colours.h"
#include "kube/runtime/reflector_thread.h"
#include "tests/unit/kube/client/client_fixture.h"

namespace verl::kube {
namespace {

using scripted::Answer;
using scripted::End;
using scripted::Expectation;
using scripted::Fields;
using scripted::LiveBody;
using std::chrono::milliseconds;

constexpr const char* kPath = "/api/v1/namespaces/rl/configmaps";
const ReflectorOptions kLongWaits{};  // 0.8 s and more: a test that must go on at once uses these and a short deadline

ReflectorOptions from_cache(ReflectorOptions options = quick()) {
  options.first_list = FirstList::FromCache;
  return options;
}

class World {
 public:
  explicit World(ReflectorOptions options = from_cache())
      : client_(server), api(client_.connect()),
        reflector(*api, clock, {.resource = kMaps, .name_space = "rl"}, decode_colour,
                  {.on_change = [this](const Reflector<Colour>::Change& change) { note(changes_, kube::text(change)); },
                   .log = [this](std::string_view line) { note(log_, std::string(line)); }},
                  options) {}

  // A list with exactly this query.
  World& list(Fields query, Answer answer) {
    std::vector<std::string> absent{"watch", "resourceVersionMatch"};
    for (const char* name : {"limit", "continue", "resourceVersion"}) {
      if (std::none_of(query.begin(), query.end(), [&](const auto& field) { return field.first == name; })) absent.emplace_back(name);
    }
    server.expect({.path = kPath, .query = std::move(query), .absent = std::move(absent), .answer = std::move(answer)});
    return *this;
  }
  World& first_list(const std::string& version, const std::string& items = "") {
    return list({{"limit", "500"}, {"resourceVersion", "0"}}, scripted::json(200, page(version, items)));
  }
  World& watch(const std::string& version, Answer answer) {
    server.expect({.path = kPath, .query = watch_query(version), .absent = {"limit", "continue"}, .answer = std::move(answer)});
    return *this;
  }
  // The script's last line: a watch from `version` that stays open. Runs the reflector until it is there.
  void ends_watching(const std::string& version, std::chrono::milliseconds limit = Seconds{15}) {
    const auto last = std::make_shared<LiveBody>();
    watch(version, scripted::live_watch(last));
    ReflectorThread thread(reflector);
    EXPECT_TRUE(last->wait_opened(limit)) << "no watch from " << version << "; trouble: " << reflector.trouble();
    thread.join();
  }

  static Fields watch_query(const std::string& version) { return {{"watch", "true"}, {"resourceVersion", version}, {"allowWatchBookmarks", "true"}}; }
  Texts changes() const { return copy(changes_); }
  Texts log() const { return copy(log_); }
  Texts shown() { return kube::shown(reflector.snapshot()); }

  scripted::ScriptedServer server{};
  SystemClock clock{};

 private:
  void note(Texts& into, std::string line) {
    const std::lock_guard lock(mutex_);
    into.push_back(std::move(line));
  }
  Texts copy(const Texts& from) const {
    const std::lock_guard lock(mutex_);
    return from;
  }
  mutable std::mutex mutex_{};
  Texts changes_{};
  Texts log_{};
  TestClient client_;

 public:
  std::unique_ptr<HttpApi> api;
  Reflector<Colour> reflector;
};

TEST(ReflectorRows, L1_L2_FirstListFromTheWatchCacheThenWatchFromItsVersion) {
  World world;
  world.first_list("200", map("a", "1", "red")).ends_watching("200");
  EXPECT_EQ(world.shown(), Texts{"a=red"});
}

TEST(ReflectorRows, L1_PagedFirstListHasALimitAndNoVersion) {
  World world(quick());
  world.list({{"limit", "500"}}, scripted::json(200, page("200", map("a", "1", "red")))).ends_watching("200");
  EXPECT_TRUE(world.reflector.listed_at().has_value());
}

TEST(ReflectorRows, L3_ContinueIsFollowedWithoutAVersionAndLaterListsArePaged) {
  World world;
  world.list({{"limit", "500"}, {"resourceVersion", "0"}}, scripted::json(200, page("7", map("a", "1", "red"), "c1")));
  world.list({{"limit", "500"}, {"continue", "c1"}}, scripted::json(200, page("7", map("b", "2", "blue"))));
  world.watch("7", scripted::watch_of({event("ERROR", status(410, "Expired"))}));
  world.list({{"limit", "500"}, {"resourceVersion", "7"}}, scripted::json(200, page("9", map("b", "2", "blue"))));
  world.ends_watching("9");
  EXPECT_EQ(world.changes(), (Texts{"rl/a - > red", "rl/b - > blue", "rl/a red > -"}));
}

TEST(ReflectorRows, L4_W6_AnExpiredWatchListsAtTheLastVersionWithoutALimit) {
  World world;
  world.first_list("100").watch("100", scripted::watch_of({event("ADDED", map("a", "123", "red")), event("ERROR", status(410, "Expired"))}));
  world.list({{"resourceVersion", "123"}}, scripted::json(200, page("130", map("a", "123", "red")))).ends_watching("130");
  EXPECT_EQ(world.changes(), Texts{"rl/a - > red"});
}

TEST(ReflectorRows, L5_AnExpiredSecondPageLeadsToOneListInASinglePiece) {
  World world;
  world.list({{"limit", "500"}, {"resourceVersion", "0"}}, scripted::json(200, page("7", map("a", "1", "red"), "c1")));
  world.list({{"limit", "500"}, {"continue", "c1"}}, scripted::json(410, status(410, "Expired")));
  world.list({{"resourceVersion", "0"}}, scripted::json(200, page("8", map("b", "2", "blue")))).ends_watching("8");
  EXPECT_EQ(world.shown(), Texts{"b=blue"});
}

TEST(ReflectorRows, L6_AVersionThatCannotBeServedIsLeftOutAtOnce) {
  const std::string ahead = R"({"kind":"Status","code":504,"reason":"Timeout","message":"Too large resource version: 9",
    "details":{"causes":[{"reason":"ResourceVersionTooLarge","message":"m"}]}})";
  for (const auto& refusal : {scripted::json(410, status(410, "Expired")), scripted::json(504, ahead)}) {
    World world(from_cache(kLongWaits));
    world.first_list("100").watch("100", scripted::watch_of({event("ERROR", status(410, "Expired"))}));
    world.list({{"resourceVersion", "100"}}, refusal);
    world.list({{"limit", "500"}}, scripted::json(200, page("7", ""))).ends_watching("7", milliseconds{700});
  }
}

TEST(ReflectorRows, L7_ATableIsAnErrorAndTheCacheStays) {
  World world;
  world.first_list("100", map("a", "1", "red")).watch("100", scripted::watch_of({event("ERROR", status(410, "Expired"))}));
  world.list({{"resourceVersion", "100"}}, scripted::json(200, R"({"kind":"Table","apiVersion":"meta.k8s.io/v1","rows":[]})"));
  world.list({{"resourceVersion", "100"}}, scripted::json(200, page("101", map("a", "1", "red")))).ends_watching("101");
  EXPECT_EQ(world.changes(), Texts{"rl/a - > red"});
}

TEST(ReflectorRows, L8_L9_WhatChangedBetweenTwoListsIsTold) {
  World world;
  world.first_list("100", map("a", "1", "red") + "," + map("b", "2", "blue", "u-1"));
  world.watch("100", scripted::watch_of({event("ERROR", status(410, "Expired"))}));
  world.list({{"resourceVersion", "100"}}, scripted::json(200, page("200", map("b", "150", "green", "u-2")))).ends_watching("200");
  EXPECT_EQ(world.changes(), (Texts{"rl/a - > red", "rl/b - > blue", "rl/a red > -", "rl/b blue > -", "rl/b - > green"}));
}

TEST(ReflectorRows, L10_ABodyOverTheCapIsAskedForInSmallerPages) {
  auto options = from_cache();
  options.max_list_body = Bytes{2048};
  World world(options);
  world.first_list("100", map("a", "1", std::string(4096, 'x')));
  world.list({{"limit", "250"}}, scripted::json(200, page("101", map("a", "1", "red")))).ends_watching("101");
  EXPECT_EQ(world.shown(), Texts{"a=red"});
  EXPECT_EQ(world.reflector.counts().too_large, 1U);
}

TEST(ReflectorRows, L11_ATruncatedListChangesNothing) {
  World world;
  const std::string whole = page("100", map("a", "1", "red"));
  Answer cut = scripted::json(200, whole.substr(0, whole.size() / 2));
  cut.declared_length = whole.size();
  cut.end = End::Close;
  world.list({{"limit", "500"}, {"resourceVersion", "0"}}, cut);
  world.server.expect({.path = kPath, .absent = {"watch"}, .answer_by = [&](const scripted::Seen&) {
                         EXPECT_FALSE(world.reflector.synced());
                         return scripted::json(200, whole);
                       }});
  world.ends_watching("100");
  EXPECT_EQ(world.shown(), Texts{"a=red"});
}

TEST(ReflectorRows, W1_TheWatchAsksForBookmarksAndATimeoutOfFiveToTenMinutes) {
  World world;
  world.first_list("200").ends_watching("200");
  const auto seen = world.server.seen().back();
  const auto timeout = std::stoi(seen.parameter("timeoutSeconds").value_or("0"));
  EXPECT_GE(timeout, 300);
  EXPECT_LE(timeout, 600);
}

TEST(ReflectorRows, W2_W3_EventsInOrderThenABookmarkMovesTheVersion) {
  World world(from_cache(kLongWaits));
  world.first_list("200", map("a", "1", "red"));
  world.watch("200", scripted::watch_of({event("ADDED", map("b", "201", "blue")), event("MODIFIED", map("a", "202", "pink")),
                                         event("DELETED", map("b", "203", "blue")), bookmark("500")}));
  world.ends_watching("500", milliseconds{700});
  EXPECT_EQ(world.changes(), (Texts{"rl/a - > red", "rl/b - > blue", "rl/a red > pink", "rl/b blue > -"}));
}

TEST(ReflectorRows, W4_W15_ACleanEndASecondAfterTheRequestIsWatchedAgainAtOnce) {
  World world(from_cache(kLongWaits));
  Answer late = scripted::watch_of({});  // headers withheld: the age counts from the request
  late.before_head = milliseconds{1050};
  world.first_list("200").watch("200", late).ends_watching("200", milliseconds{1750});
}

TEST(ReflectorRows, W5_AVeryShortWatchIsFollowedByAList) {
  World world;
  world.first_list("200").watch("200", scripted::watch_of({}));
  world.list({{"resourceVersion", "200"}}, scripted::json(200, page("201", ""))).ends_watching("201");
  EXPECT_NE(world.log().at(0).find("very short"), std::string::npos);
}

TEST(ReflectorRows, W7_ThrottlingKeepsTheVersion) {
  World world;
  world.first_list("200").watch("200", scripted::watch_of({event("ADDED", map("a", "201", "red")), event("ERROR", status(429, "TooManyRequests"))}));
  world.watch("201", scripted::json(429, status(429, "TooManyRequests"))).ends_watching("201");
  EXPECT_EQ(world.reflector.counts().lists, 1U);
}

TEST(ReflectorRows, W8_ARefusedConnectionKeepsTheVersion) {
  World world;
  const auto open = std::make_shared<LiveBody>();
  world.first_list("200").watch("200", scripted::live_watch(open));
  const auto again = std::make_shared<LiveBody>();
  world.watch("201", scripted::live_watch(again));
  ReflectorThread thread(world.reflector);
  ASSERT_TRUE(open->wait_opened());
  open->push(event("ADDED", map("a", "201", "red")) + "\n");
  while (world.changes().empty()) std::this_thread::yield();
  world.server.stop();
  while (world.reflector.trouble().empty()) std::this_thread::yield();
  world.server.restart();
  EXPECT_TRUE(again->wait_opened(Seconds{15}));
  thread.join();
  EXPECT_EQ(world.reflector.counts().lists, 1U);
}

TEST(ReflectorRows, W9_AnInternalErrorListsByDefault) {
  World world;
  world.first_list("200").watch("200", scripted::watch_of({event("ERROR", status(500, "InternalError"))}));
  world.list({{"resourceVersion", "200"}}, scripted::json(200, page("201", ""))).ends_watching("201");
}

TEST(ReflectorRows, W9_AnInternalErrorIsWatchedAgainWithinTheLimit) {
  auto options = from_cache();
  options.internal_error_limit = Seconds{60};
  World world(options);
  world.first_list("200").watch("200", scripted::watch_of({event("ERROR", status(500, "InternalError"))})).ends_watching("200");
}

TEST(ReflectorRows, W10_ARefusedWatchGoesBackToTheListAndIsToldOnce) {
  World world;
  world.first_list("200").watch("200", scripted::json(403, status(403, "Forbidden")));
  for (int i = 0; i < 3; ++i) world.list({{"resourceVersion", "200"}}, scripted::json(403, status(403, "Forbidden")));
  world.list({{"resourceVersion", "200"}}, scripted::json(200, page("201", ""))).ends_watching("201");
  EXPECT_EQ(world.log(), (Texts{"configmaps: watch: 403 Forbidden: m", "configmaps: list: 403 Forbidden: m",
                                "configmaps: works again after: list: 403 Forbidden: m"}));
}

TEST(ReflectorRows, W11_EventsOfAnotherKindAreLeftOut) {
  World world;
  world.first_list("200");
  world.watch("200", scripted::watch_of({event("ADDED", R"({"kind":"Table","apiVersion":"meta.k8s.io/v1"})"),
                                         event("ADDED", R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","uid":"1","resourceVersion":"999"}})"),
                                         event("SURPRISE", map("x", "998", "x")), event("ADDED", map("a", "201", "red"))}));
  world.ends_watching("201");
  EXPECT_EQ(world.reflector.counts().skipped, 3U);
  EXPECT_EQ(world.shown(), Texts{"a=red"});
}

TEST(ReflectorRows, W12_SyntheticEventsOfAnUnorderedWatchMoveNoVersion) {
  for (const char* start : {"", "0"}) {
    World world;
    world.first_list(start);
    world.watch(start, scripted::watch_of({event("ADDED", map("a", "50", "red")), event("ADDED", map("b", "40", "blue"))}));
    world.watch(start, scripted::watch_of({event("ADDED", map("a", "50", "red")), event("MODIFIED", map("a", "60", "pink"))}));
    world.ends_watching("60");
    EXPECT_EQ(world.shown(), (Texts{"a=pink", "b=blue"}));
  }
}

TEST(ReflectorRows, W13_EventsInAnyPiecesAreTheSame) {
  World world;
  world.first_list("200");
  const std::string stream = event("ADDED", map("a", "201", "grün")) + "\n" + event("ADDED", map("b", "202", "blå")) + "\n";
  const auto inside = stream.find("\xC3") + 1;  // in the middle of a character
  Answer split = scripted::watch_of({});
  split.pieces = {{.bytes = stream.substr(0, inside)}, {.bytes = stream.substr(inside), .after = milliseconds{20}}};
  world.watch("200", split).ends_watching("202");
  EXPECT_EQ(world.shown(), (Texts{"a=grün", "b=blå"}));
}

TEST(ReflectorRows, W14_TwoMebibytesAreTakenAndMoreThanTheCapListsAgain) {
  World world;
  world.first_list("200").watch("200", scripted::watch_of({event("ADDED", map("a", "201", std::string(2 << 20, 'x'))),
                                                           event("ADDED", map("b", "202", std::string((4 << 20) + 1, 'x')))}));
  world.list({{"resourceVersion", "201"}}, scripted::json(200, page("203", map("b", "202", "blue")))).ends_watching("203");
  EXPECT_EQ(world.changes().size(), 3U);
  EXPECT_EQ(world.reflector.counts().too_large, 1U);
}

TEST(ReflectorRows, W16_ASilentWatchIsEndedByTheClientAndWatchedAgain) {
  auto options = from_cache(kLongWaits);
  options.watch_timeout_min = options.watch_timeout_max = Seconds{1};
  options.watch_grace = Seconds{1};
  World world(options);
  world.first_list("200").watch("200", scripted::live_watch(std::make_shared<LiveBody>()));
  world.ends_watching("200", milliseconds{5000});
}

TEST(ReflectorRows, W17_HalfAnEventIsDroppedAndTheWatchGoesOnFromTheLastWholeOne) {
  for (const auto end : {End::Close, End::CloseWithoutNotify, End::Reset}) {
    World world(from_cache(kLongWaits));
    const std::string second = event("ADDED", map("b", "202", "blue"));
    Answer broken = scripted::watch_of({event("ADDED", map("a", "201", "red"))}, end);
    broken.pieces.push_back({.bytes = second.substr(0, second.size() / 2), .after = milliseconds{50}});
    broken.last_chunk = false;
    world.first_list("200").watch("200", broken).watch("201", scripted::watch_of({second})).ends_watching("202", milliseconds{1500});
    EXPECT_EQ(world.shown(), (Texts{"a=red", "b=blue"}));
    EXPECT_EQ(world.reflector.counts().lists, 1U);
  }
}

TEST(ReflectorRows, W18_ADuplicateAfterARewatchIsNoChange) {
  World world;
  world.first_list("200").watch("200", scripted::watch_of({event("ADDED", map("a", "201", "red"))}));
  world.watch("201", scripted::watch_of({event("ADDED", map("a", "201", "red")), event("MODIFIED", map("a", "202", "pink"))}));
  world.ends_watching("202");
  EXPECT_EQ(world.changes(), (Texts{"rl/a - > red", "rl/a red > pink"}));
}

TEST(ReflectorRows, B1_RepeatedFailuresAreSpreadOut) {
  auto options = from_cache();
  options.backoff = {.initial = milliseconds{40}, .max = milliseconds{100}, .jitter = 0.0};
  World world(options);
  std::mutex mutex;
  std::vector<Instant> times;
  world.server.expect({.path = kPath, .absent = {"watch"}, .answer_by = [&](const scripted::Seen&) {
                         const std::lock_guard lock(mutex);
                         times.push_back(world.clock.steady());
                         return times.size() < 5 ? scripted::json(403, status(403, "Forbidden")) : scripted::json(200, page("7", ""));
                       }, .times = 5});
  world.ends_watching("7");
  const milliseconds least[] = {milliseconds{40}, milliseconds{80}, milliseconds{100}, milliseconds{100}};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_GE(times[i + 1] - times[i], least[i]) << i;
}

TEST(ReflectorRows, O1_VersionsAreOpaque) {
  World world;
  world.first_list("zz-9").watch("zz-9", scripted::watch_of({event("ADDED", map("a", "aa-1", "red"))})).ends_watching("aa-1");
}

TEST(ReflectorRows, O2_O3_ACacheIsBehindUntilItShowsTheOwnWriteWhateverAnotherCacheShows) {
  World jobs;
  World pods;
  const ObjectKey key{"rl", "a"};
  const auto jobs_watch = std::make_shared<LiveBody>();
  jobs.first_list("200", map("a", "150", "red")).watch("200", scripted::live_watch(jobs_watch));
  pods.first_list("300", map("a", "250", "red")).ends_watching("300");
  ReflectorThread thread(jobs.reflector);
  ASSERT_TRUE(jobs_watch->wait_opened());
  jobs.reflector.expect(key, "u-a", "250");
  EXPECT_TRUE(jobs.reflector.snapshot().is_behind(key));
  EXPECT_FALSE(pods.reflector.snapshot().is_behind(key));
  jobs_watch->push(event("MODIFIED", map("a", "240", "pink")) + "\n");
  while (jobs.shown() != Texts{"a=pink"}) std::this_thread::yield();
  EXPECT_TRUE(jobs.reflector.snapshot().is_behind(key)) << "somebody else's earlier write";
  jobs_watch->push(event("MODIFIED", map("a", "250", "blue")) + "\n");
  while (jobs.shown() != Texts{"a=blue"}) std::this_thread::yield();
  EXPECT_FALSE(jobs.reflector.snapshot().is_behind(key));
}

}  // namespace
}  // namespace verl::kube
