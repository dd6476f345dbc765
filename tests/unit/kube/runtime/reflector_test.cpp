// The reflector against a scripted Api: what the machine decides is done, and what the cache shows.
#include "kube/runtime/reflector.h"

#include <gtest/gtest.h>

#include "colours.h"
#include "fake_api.h"
#include "kube/runtime/reflector_thread.h"

namespace verl::kube {
namespace {

// A line of a watch.
std::string line(const std::string& type, const std::string& object) { return event(type, object) + "\n"; }

// One reflector run on this thread until the script's last exchange stops it.
struct Bench {
  FakeApi api{};
  SystemClock clock{};
  std::stop_source stop{};
  std::vector<std::string> changes{};
  std::vector<std::string> log{};
  std::vector<std::string> caught_up{};
  Reflector<Colour> reflector;

  explicit Bench(ReflectorOptions options = quick())
      : reflector(api, clock, {.resource = kMaps, .name_space = "rl"}, decode_colour,
                  {.on_change = [this](const Reflector<Colour>::Change& change) { changes.push_back(kube::text(change)); },
                   .on_caught_up = [this](const ObjectKey& key) { caught_up.push_back(to_string(key)); },
                   .log = [this](std::string_view said) { log.emplace_back(said); }},
                  options) {}

  FakeApi::Exchange last_watch(std::string wanted = "watch=true") {
    return {.wanted = std::move(wanted), .after = [this] { stop.request_stop(); }};
  }
  void run() { reflector.run(stop.get_token()); }
  Texts shown() { return kube::shown(reflector.snapshot()); }
};

TEST(Reflector, L3_CollectsPagesBeforeTheCacheChanges) {
  Bench bench;
  bench.api.add({.wanted = "limit=500", .pieces = {page("7", map("a", "1", "red"), "c1")}});
  bench.api.add({.wanted = "limit=500&continue=c1",
                 .pieces = {page("7", map("b", "2", "blue"))},
                 .before = [&] { EXPECT_FALSE(bench.reflector.synced()) << "half a list is no list"; }});
  bench.api.add(bench.last_watch("watch=true&resourceVersion=7&allowWatchBookmarks=true&timeoutSeconds="));
  bench.run();
  EXPECT_TRUE(bench.reflector.synced());
  EXPECT_EQ(bench.shown(), (Texts{"a=red", "b=blue"}));
  EXPECT_EQ(bench.changes, (Texts{"rl/a - > red", "rl/b - > blue"}));
  EXPECT_EQ(bench.reflector.last_resource_version(), "7");
  EXPECT_EQ(bench.reflector.counts(), (ReflectorCounts{.lists = 1, .pages = 2, .watches = 1}));
  EXPECT_TRUE(bench.reflector.listed_at().has_value());
}

TEST(Reflector, L3_ASecondListKeepsTheCopyOfWhatDidNotChange) {
  Bench bench;
  std::shared_ptr<const Colour> a;
  std::shared_ptr<const Colour> b;
  bench.api.add({.wanted = "limit", .pieces = {page("7", map("a", "1", "red") + "," + map("b", "2", "blue"))}});
  bench.api.add({.wanted = "watch", .pieces = {line("ERROR", status(410, "Expired"))}});
  // A restored backup may give another object the same version: the text decides, not the version.
  bench.api.add({.wanted = "limit", .pieces = {page("9", map("a", "1", "red") + "," + map("b", "2", "green"))}, .before = [&] {
                   a = bench.reflector.snapshot().value(0);
                   b = bench.reflector.snapshot().value(1);
                 }});
  bench.api.add(bench.last_watch("resourceVersion=9"));
  bench.run();
  EXPECT_EQ(bench.shown(), (Texts{"a=red", "b=green"}));
  EXPECT_EQ(bench.reflector.snapshot().value(0), a);
  EXPECT_NE(bench.reflector.snapshot().value(1), b);
}

TEST(Reflector, L7_ATableLeavesTheCacheAlone) {
  Bench bench;
  bench.api.add({.wanted = "limit", .pieces = {page("7", map("a", "1", "red"))}});
  bench.api.add({.wanted = "watch", .pieces = {line("ERROR", status(410, "Expired"))}});
  bench.api.add({.wanted = "limit", .pieces = {R"({"kind":"Table","apiVersion":"meta.k8s.io/v1","rows":[]})"}});
  bench.api.add({.wanted = "limit", .pieces = {page("9", map("a", "1", "red"))}, .before = [&] { EXPECT_EQ(bench.shown(), Texts{"a=red"}); }});
  bench.api.add(bench.last_watch("resourceVersion=9"));
  bench.run();
  EXPECT_EQ(bench.changes, Texts{"rl/a - > red"});
}

TEST(Reflector, L10_ABodyOverTheCapIsCountedAndAskedForInSmallerPages) {
  Bench bench;
  bench.api.add({.wanted = "limit=500", .error = Error{ErrorCode::TooLarge, "over the cap"}});
  bench.api.add({.wanted = "limit=250", .pieces = {page("7", "")}});
  bench.api.add(bench.last_watch());
  bench.run();
  EXPECT_EQ(bench.reflector.counts().too_large, 1U);
}

TEST(Reflector, L11_ATruncatedPageIsTriedAgain) {
  Bench bench;
  bench.api.add({.wanted = "limit=500", .pieces = {page("7", map("a", "1", "red"), "c1")}});
  const auto cut = page("7", map("b", "2", "blue"));
  bench.api.add({.wanted = "continue=c1", .pieces = {cut.substr(0, cut.size() - 9)}});
  bench.api.add({.wanted = "limit=500", .pieces = {page("8", map("c", "3", "green"))}, .before = [&] { EXPECT_FALSE(bench.reflector.synced()); }});
  bench.api.add(bench.last_watch());
  bench.run();
  EXPECT_EQ(bench.shown(), Texts{"c=green"});
}

TEST(Watch, W2_W13_EventsInAnyPiecesReachTheCacheInOrder) {
  const std::string stream = line("ADDED", map("b", "8", "blü")) + line("MODIFIED", map("a", "9", "pink")) + line("DELETED", map("b", "10", "blü")) +
                             bookmark("500") + "\n";
  for (const std::size_t size : {std::size_t{1}, std::size_t{7}, std::size_t{64}, stream.size()}) {
    Bench bench;
    bench.api.add({.wanted = "limit", .pieces = {page("7", map("a", "1", "red"))}});
    FakeApi::Exchange watch{.wanted = "watch"};
    for (std::size_t at = 0; at < stream.size(); at += size) watch.pieces.push_back(stream.substr(at, size));
    bench.api.add(std::move(watch));
    bench.api.add(bench.last_watch("resourceVersion=500"));
    bench.run();
    EXPECT_EQ(bench.changes, (Texts{"rl/a - > red", "rl/b - > blü", "rl/a red > pink", "rl/b blü > -"}));
    EXPECT_EQ(bench.shown(), Texts{"a=pink"});
  }
}

TEST(Watch, W6_W7_W8_W10_AnswersAndErrorEventsAreTold) {
  Bench bench;
  bench.api.add({.wanted = "limit", .pieces = {page("7", "")}});
  bench.api.add({.wanted = "watch=true&resourceVersion=7", .pieces = {line("ADDED", map("a", "8", "red")), line("ERROR", status(429, "TooManyRequests"))}});
  bench.api.add({.wanted = "watch=true&resourceVersion=8", .status = 429, .pieces = {status(429, "TooManyRequests")}});
  bench.api.add({.wanted = "watch=true&resourceVersion=8", .error = Error{ErrorCode::Unavailable, "refused"}});
  bench.api.add({.wanted = "watch=true&resourceVersion=8", .status = 403, .pieces = {status(403, "Forbidden")}});
  bench.api.add({.wanted = "limit=500", .status = 403, .pieces = {status(403, "Forbidden")}});
  bench.api.add({.wanted = "limit=500", .status = 403, .pieces = {status(403, "Forbidden")}});
  bench.api.add({.wanted = "limit=500", .pieces = {page("9", map("a", "8", "red"))}});
  bench.api.add({.wanted = "watch=true&resourceVersion=9", .status = 410, .pieces = {status(410, "Gone")}});
  bench.api.add({.wanted = "limit=500", .pieces = {page("11", map("a", "8", "red"))}});
  bench.api.add(bench.last_watch("resourceVersion=11"));
  bench.run();
  EXPECT_EQ(bench.log, (Texts{"configmaps: watch: 429 TooManyRequests: m", "configmaps: watch: refused", "configmaps: watch: 403 Forbidden: m",
                              "configmaps: list: 403 Forbidden: m", "configmaps: works again after: list: 403 Forbidden: m"}));
  EXPECT_EQ(bench.changes, Texts{"rl/a - > red"});
  EXPECT_EQ(bench.reflector.trouble(), "");
}

TEST(Watch, W11_EventsOfAnotherKindAreCountedAndTheStreamGoesOn) {
  Bench bench;
  bench.api.add({.wanted = "limit", .pieces = {page("7", "")}});
  bench.api.add({.wanted = "watch",
                 .pieces = {line("ADDED", R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","uid":"1","resourceVersion":"99"}})"),
                            line("ADDED", R"({"kind":"Table","apiVersion":"meta.k8s.io/v1"})"), line("SURPRISE", map("s", "98", "x")),
                            line("ADDED", R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"uid":"no name"}})"), "{\"type\":\"ADDED\"}\n",
                            line("ADDED", map("a", "8", "red"))}});
  bench.api.add(bench.last_watch("resourceVersion=8"));
  bench.run();
  EXPECT_EQ(bench.reflector.counts().skipped, 5U);
  EXPECT_EQ(bench.changes, Texts{"rl/a - > red"});
}

TEST(Watch, W14_AnEventOverTheCapIsDroppedWithItsStream) {
  auto options = quick();
  options.max_line = kKiB;
  Bench bench(options);
  bench.api.add({.wanted = "limit", .pieces = {page("7", "")}});
  bench.api.add({.wanted = "watch", .pieces = {line("ADDED", map("a", "8", std::string(2000, 'x')))}});
  bench.api.add({.wanted = "limit", .pieces = {page("9", map("a", "8", "red"))}});
  bench.api.add(bench.last_watch("resourceVersion=9"));
  bench.run();
  EXPECT_EQ(bench.reflector.counts().too_large, 1U);
  EXPECT_EQ(bench.shown(), Texts{"a=red"});
}

TEST(Watch, W17_HalfAnObjectIsDroppedAndTheWatchGoesOnFromTheLastWholeOne) {
  Bench bench;
  bench.api.add({.wanted = "limit", .pieces = {page("7", "")}});
  const auto second = line("ADDED", map("b", "9", "blue"));
  bench.api.add({.wanted = "watch",
                 .pieces = {line("ADDED", map("a", "8", "red")), second.substr(0, second.size() / 2)},
                 .error = Error{ErrorCode::Unavailable, "connection lost"}});
  bench.api.add({.wanted = "watch=true&resourceVersion=8", .pieces = {second}});
  bench.api.add(bench.last_watch("resourceVersion=9"));
  bench.run();
  EXPECT_EQ(bench.shown(), (Texts{"a=red", "b=blue"}));
  EXPECT_EQ(bench.reflector.counts().lists, 1U);
}

TEST(Watch, W18_TheSameEventAgainIsNoChange) {
  Bench bench;
  bench.api.add({.wanted = "limit", .pieces = {page("7", "")}});
  bench.api.add({.wanted = "watch", .pieces = {line("ADDED", map("a", "8", "red"))}});
  bench.api.add({.wanted = "watch", .pieces = {line("ADDED", map("a", "8", "red")), line("MODIFIED", map("a", "9", "pink"))}});
  bench.api.add(bench.last_watch());
  bench.run();
  EXPECT_EQ(bench.changes, (Texts{"rl/a - > red", "rl/a red > pink"}));
}

TEST(Watch, ALineThatIsNotJsonListsAgainBecauseWhatItSaidIsLost) {
  Bench bench;
  bench.api.add({.wanted = "limit", .pieces = {page("7", "")}});
  bench.api.add({.wanted = "watch", .pieces = {"{\"type\":\"ADDED\",\"object\":{]\n"}});
  bench.api.add({.wanted = "limit", .pieces = {page("9", map("a", "8", "red"))}});
  bench.api.add(bench.last_watch("resourceVersion=9"));
  bench.run();
  EXPECT_EQ(bench.shown(), Texts{"a=red"});
}

TEST(Reflector, AnObjectThatCannotBeDecodedIsShownAsUnreadable) {
  Bench bench;
  const std::string odd = R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"odd","namespace":"rl","uid":"u","resourceVersion":"5"}})";
  bench.api.add({.wanted = "limit", .pieces = {page("7", map("a", "1", "red") + "," + odd)}});
  bench.api.add({.wanted = "watch", .pieces = {line("MODIFIED", odd.substr(0, odd.size() - 4) + R"(6"},"data":{}})")}});
  bench.api.add(bench.last_watch());
  bench.run();
  EXPECT_EQ(bench.shown(), (Texts{"a=red", "odd=?"}));
  EXPECT_EQ(bench.reflector.snapshot().problem(1), "data.colour is missing");
  EXPECT_EQ(bench.changes, (Texts{"rl/a - > red", "rl/odd - > ?", "rl/odd ? > ?"}));
  EXPECT_EQ(bench.reflector.counts().unreadable, 2U);
}

TEST(Reflector, O3_TheSnapshotNamesKeysWhoseOwnWriteIsNotSeenYet) {
  Bench bench;
  const ObjectKey key{"rl", "a"};
  bench.api.add({.wanted = "limit", .pieces = {page("7", map("a", "5", "red"))}});
  bench.api.add({.wanted = "watch",
                 .pieces = {line("MODIFIED", map("a", "8", "blue")), line("MODIFIED", map("a", "9", "pink"))},
                 .before =
                     [&] {
                       bench.reflector.expect(key, "u-a", "9");
                       EXPECT_TRUE(bench.reflector.snapshot().is_behind(key));
                     },
                 .after = [&] { EXPECT_FALSE(bench.reflector.snapshot().is_behind(key)); }});
  bench.api.add(bench.last_watch());
  bench.run();
  EXPECT_EQ(bench.caught_up, Texts{"rl/a"});
}

TEST(Reflector, O3_AnOwnWriteThatStaysUnseenAsksForAFreshList) {
  auto options = quick();
  options.own_write_deadline = Seconds{0};
  Bench bench(options);
  const ObjectKey key{"rl", "a"};
  bench.api.add({.wanted = "limit", .pieces = {page("7", map("a", "5", "red"))}});
  bench.api.add({.wanted = "watch", .pieces = {line("MODIFIED", map("b", "8", "blue"))}, .open = true, .before = [&] { bench.reflector.expect_unknown(key); }});
  bench.api.add({.wanted = "limit", .pieces = {page("9", map("a", "5", "red"))}});
  bench.api.add(bench.last_watch("resourceVersion=9"));
  bench.run();
  EXPECT_EQ(bench.caught_up, Texts{"rl/a"});
  EXPECT_FALSE(bench.reflector.snapshot().is_behind(key));
}

TEST(ReflectorThread, AForcedRelistInterruptsTheWatchAndMakesTheCacheFresh) {
  Bench bench;
  std::mutex mutex;
  std::condition_variable changed;
  int watches = 0;
  const auto opened = [&] {
    const std::lock_guard lock(mutex);
    ++watches;
    changed.notify_all();
  };
  bench.api.add({.wanted = "limit", .pieces = {page("7", map("a", "5", "red"))}});
  bench.api.add({.wanted = "watch", .open = true, .after = opened});
  bench.api.add({.wanted = "limit", .pieces = {page("9", map("a", "8", "blue"))}});
  bench.api.add({.wanted = "watch=true&resourceVersion=9", .open = true, .after = opened});
  ReflectorThread thread(bench.reflector);
  std::unique_lock lock(mutex);
  ASSERT_TRUE(changed.wait_for(lock, Seconds{10}, [&] { return watches == 1; }));
  const Instant acquired = bench.clock.steady();
  EXPECT_FALSE(bench.reflector.fresh_since(acquired));
  bench.reflector.force_relist();
  ASSERT_TRUE(changed.wait_for(lock, Seconds{10}, [&] { return watches == 2; }));
  lock.unlock();
  EXPECT_TRUE(bench.reflector.fresh_since(acquired));
  EXPECT_EQ(bench.shown(), Texts{"a=blue"});
  const Instant stopping = bench.clock.steady();
  thread.join();
  EXPECT_LT(bench.clock.steady() - stopping, Seconds{1});
}

TEST(ReflectorThread, StopsDuringAWait) {
  auto options = quick();
  options.backoff = {.initial = Seconds{600}, .max = Seconds{600}};
  Bench bench(options);
  bench.api.add({.wanted = "limit", .error = Error{ErrorCode::Unavailable, "refused"}});
  ReflectorThread thread(bench.reflector);
  while (bench.api.asked().empty()) std::this_thread::yield();
  const Instant stopping = bench.clock.steady();
  thread.join();
  EXPECT_LT(bench.clock.steady() - stopping, Seconds{1});
}

}  // namespace
}  // namespace verl::kube
