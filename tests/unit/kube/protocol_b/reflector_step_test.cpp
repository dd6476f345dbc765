// The list-and-watch machine, row by row, in virtual time.
#include "kube/protocol/reflector_step.h"

#include <gtest/gtest.h>

#include <memory>

namespace verl::kube {
namespace {

using std::chrono::milliseconds;

const ReflectorOptions kFromCache{.first_list = FirstList::FromCache};

// Drives the machine: each call is one thing that happened; `next()` is what it does about it.
class Story {
 public:
  explicit Story(ReflectorOptions options = kFromCache) : options_(options) { last_ = begin(options_, context()); }

  Story& happens(const ReflectorInput& input) {
    last_ = step(last_.state, input, options_, context());
    return *this;
  }
  Story& after(Microseconds time) {
    now_ += time;
    return *this;
  }
  Story& watching(std::string version) { return happens(PageArrived{.resource_version = std::move(version)}); }
  Story& sees(WatchType type, std::string version) { return happens(EventArrived{.type = type, .resource_version = std::move(version)}); }
  Story& ends(WatchEnd how, std::optional<Seconds> retry_after = {}) { return happens(WatchEnded{.how = how, .message = "m", .retry_after = retry_after}); }
  Story& list_fails(ListFailure failure) { return happens(ListFailed{.failure = failure, .message = "m"}); }
  Story& wakes() {
    after(std::get<Wait>(last_.next).delay);
    return happens(Woken{});
  }

  const ReflectorNext& next() const { return last_.next; }
  CacheAction cache() const { return last_.cache; }
  const ReflectorStep& last() const { return last_; }
  Microseconds waits() const { return std::get<Wait>(last_.next).delay; }
  std::string rewatches_from() const {
    const auto* watch = std::get_if<WatchRequest>(&last_.next);
    return watch ? watch->resource_version : "(no watch)";
  }
  double random{0};

 private:
  StepContext context() const { return {.now = now_, .random = random}; }
  ReflectorOptions options_;
  Instant now_{std::chrono::hours{1}};
  ReflectorStep last_{};
};

ReflectorNext list_of(std::optional<int> limit, std::optional<std::string> version, std::string token = {}) {
  return ListRequest{.limit = limit, .continue_token = std::move(token), .resource_version = std::move(version)};
}
ReflectorNext pause(Microseconds delay) { return Wait{.delay = delay}; }

TEST(Reflector, L1_FirstListAsksTheWatchCacheWithALimit) {
  EXPECT_EQ(Story{}.next(), list_of(500, "0"));
}

TEST(Reflector, L1_PagedFirstListHasALimitAndNoVersion) {
  EXPECT_EQ(Story{ReflectorOptions{}}.next(), list_of(500, std::nullopt));
}

TEST(Reflector, L2_AListInOnePieceReplacesTheCacheAndIsWatchedFromItsVersion) {
  Story run;
  run.watching("200");
  EXPECT_EQ(run.cache(), CacheAction::ReplaceByPages);
  EXPECT_EQ(run.rewatches_from(), "200");
  EXPECT_FALSE(run.last().quorum_list);
}

TEST(Reflector, L3_FollowsContinueWithoutAResourceVersion) {
  Story run;
  run.happens(PageArrived{.resource_version = "7", .continue_token = "abc"});
  EXPECT_EQ(run.cache(), CacheAction::KeepPage);
  EXPECT_EQ(run.next(), list_of(500, std::nullopt, "abc"));
  run.watching("7").after(Seconds{5}).sees(WatchType::Added, "9").ends(WatchEnd::Expired);
  EXPECT_EQ(run.next(), list_of(500, "9")) << "later lists go on asking for pages";
}

TEST(Reflector, L4_RelistWithAKnownVersionHasNoLimit) {
  Story run;
  run.watching("123").after(Seconds{5}).ends(WatchEnd::Expired);
  EXPECT_EQ(run.next(), list_of(std::nullopt, "123"));
}

TEST(Reflector, L5_AnExpiredSecondPageLeadsToOneListInASinglePiece) {
  Story run;
  run.happens(PageArrived{.resource_version = "7", .continue_token = "abc"}).list_fails(ListFailure::Expired);
  EXPECT_EQ(run.cache(), CacheAction::DropPages);
  EXPECT_EQ(run.next(), list_of(std::nullopt, "0"));

  Story paged{ReflectorOptions{}};
  paged.happens(PageArrived{.resource_version = "7", .continue_token = "abc"}).list_fails(ListFailure::Expired);
  EXPECT_EQ(paged.next(), list_of(std::nullopt, std::nullopt));
}

TEST(Reflector, L6_AListThatCannotServeItsVersionIsRepeatedWithoutOneAtOnce) {
  for (const auto failure : {ListFailure::Expired, ListFailure::VersionTooLarge}) {
    Story run;
    run.watching("123").after(Seconds{5}).ends(WatchEnd::Expired).list_fails(failure);
    EXPECT_EQ(run.next(), list_of(500, std::nullopt));
    run.list_fails(ListFailure::Other).wakes();
    EXPECT_EQ(run.next(), list_of(500, std::nullopt)) << "the version stays unavailable until a list succeeds";
    run.watching("130").after(Seconds{5}).sees(WatchType::Added, "131").ends(WatchEnd::Expired);
    EXPECT_EQ(run.next(), list_of(std::nullopt, "131"));
  }
}

TEST(Reflector, L6_AnExpiryWithoutAVersionWaits) {
  Story run{ReflectorOptions{}};
  run.list_fails(ListFailure::Expired);
  EXPECT_EQ(run.next(), pause(milliseconds{800}));
}

TEST(Reflector, L7_AListOfTheWrongKindLeavesTheCacheAndWaits) {
  Story run;
  run.list_fails(ListFailure::Other);
  EXPECT_EQ(run.cache(), CacheAction::DropPages);
  EXPECT_EQ(run.next(), pause(milliseconds{800}));
  run.wakes();
  EXPECT_EQ(run.next(), list_of(500, "0"));
}

TEST(Reflector, L10_ABodyOverTheCapIsAskedForInSmallerPages) {
  Story run;
  run.list_fails(ListFailure::BodyTooLarge);
  EXPECT_EQ(run.cache(), CacheAction::DropPages);
  EXPECT_EQ(run.wakes().next(), list_of(250, std::nullopt));
  EXPECT_EQ(run.list_fails(ListFailure::BodyTooLarge).wakes().next(), list_of(125, std::nullopt));
  for (int i = 0; i < 20; ++i) run.list_fails(ListFailure::BodyTooLarge).wakes();
  EXPECT_EQ(run.next(), list_of(1, std::nullopt));
}

TEST(Reflector, L10_AListInOnePieceOverTheCapIsAskedForInPages) {
  Story run;
  run.watching("123").after(Seconds{5}).ends(WatchEnd::Expired).list_fails(ListFailure::BodyTooLarge);
  EXPECT_EQ(run.wakes().next(), list_of(500, std::nullopt));
}

TEST(Reflector, L11_ATruncatedListIsTriedAgainWithoutACacheChange) {
  Story run;
  run.happens(PageArrived{.resource_version = "7", .continue_token = "abc"}).list_fails(ListFailure::Other);
  EXPECT_EQ(run.cache(), CacheAction::DropPages);
  EXPECT_EQ(run.wakes().next(), list_of(500, "0"));
}

TEST(Reflector, ARepeatedContinueTokenEndsTheList) {
  Story run;
  run.happens(PageArrived{.continue_token = "abc"}).happens(PageArrived{.continue_token = "abc"});
  EXPECT_EQ(run.cache(), CacheAction::DropPages);
  EXPECT_EQ(run.next(), pause(milliseconds{800}));
}

TEST(Watch, W1_TimeoutIsBetweenFiveAndTenMinutes) {
  for (const auto& [random, seconds] : {std::pair{0.0, 300}, {0.5, 450}, {0.9999, 599}}) {
    Story run;
    run.random = random;
    run.watching("200");
    EXPECT_EQ(run.next(), ReflectorNext(WatchRequest{.resource_version = "200", .timeout = Seconds{seconds}}));
  }
}

TEST(Watch, W2_EventsAreAppliedInOrderAndTheNextWatchStartsAtTheLastVersion) {
  Story run;
  run.watching("200");
  const std::pair<WatchType, const char*> events[] = {{WatchType::Added, "201"}, {WatchType::Modified, "202"}, {WatchType::Deleted, "203"}};
  for (const auto& [type, version] : events) {
    run.sees(type, version);
    EXPECT_EQ(run.cache(), CacheAction::ApplyEvent);
    EXPECT_EQ(run.next(), ReflectorNext(KeepReading{}));
    EXPECT_EQ(run.last().state.resource_version, version);
  }
  EXPECT_EQ(run.ends(WatchEnd::Closed).rewatches_from(), "203");
}

TEST(Watch, W3_ABookmarkMovesTheVersionAndNothingElse) {
  Story run;
  run.watching("200").sees(WatchType::Bookmark, "500");
  EXPECT_EQ(run.cache(), CacheAction::None);
  EXPECT_EQ(run.ends(WatchEnd::Closed).rewatches_from(), "500");
}

TEST(Watch, W4_ACleanEndAfterASecondIsWatchedAgainAtOnce) {
  Story run;
  EXPECT_EQ(run.watching("200").after(milliseconds{1001}).ends(WatchEnd::Closed).rewatches_from(), "200");
}

TEST(Watch, W5_AVeryShortWatchWithoutEventsWaitsAndLists) {
  Story run;
  run.watching("200").after(milliseconds{900}).ends(WatchEnd::Closed);
  EXPECT_EQ(run.next(), pause(milliseconds{800}));
  EXPECT_NE(run.last().notice.find("very short"), std::string::npos);
  EXPECT_EQ(run.wakes().next(), list_of(std::nullopt, "200"));
}

TEST(Watch, W5_AShortWatchThatOnlyRepeatsWhatIsKnownWaits) {
  Story run;
  run.watching("200").sees(WatchType::Modified, "200").ends(WatchEnd::Closed);
  EXPECT_EQ(run.next(), pause(milliseconds{800}));
  EXPECT_EQ(run.wakes().rewatches_from(), "200");
}

TEST(Watch, W6_AnExpiredWatchListsAtTheLastVersionSeen) {
  Story run;
  run.watching("200").after(Seconds{9}).sees(WatchType::Added, "222").ends(WatchEnd::Expired);
  EXPECT_EQ(run.next(), list_of(std::nullopt, "222"));
  EXPECT_FALSE(run.last().state.version_unavailable);
}

TEST(Watch, W6_ExpiryAfterExpiryWaits) {
  Story run;
  run.watching("200").ends(WatchEnd::Expired);
  EXPECT_EQ(run.next(), list_of(std::nullopt, "200"));
  run.watching("200").ends(WatchEnd::Expired);
  EXPECT_EQ(run.next(), pause(milliseconds{800}));
}

TEST(Watch, W7_ThrottlingWaitsAndWatchesAgainAtTheSameVersion) {
  Story run;
  run.watching("200").sees(WatchType::Added, "201").ends(WatchEnd::Throttled);
  EXPECT_EQ(run.next(), pause(milliseconds{800}));
  EXPECT_EQ(run.wakes().rewatches_from(), "201");
  EXPECT_EQ(run.ends(WatchEnd::Throttled, Seconds{7}).next(), pause(Seconds{7})) << "Retry-After is the least";
  EXPECT_EQ(run.wakes().rewatches_from(), "201");
}

TEST(Watch, W8_ARefusedConnectionWaitsAndWatchesAgainAtTheSameVersion) {
  Story run;
  run.watching("200").ends(WatchEnd::NotOpened);
  EXPECT_EQ(run.next(), pause(milliseconds{800}));
  EXPECT_EQ(run.wakes().rewatches_from(), "200");
}

TEST(Watch, W9_AnInternalErrorGivesUpByDefault) {
  Story run;
  run.watching("200").ends(WatchEnd::InternalError);
  EXPECT_EQ(run.wakes().next(), list_of(std::nullopt, "200"));
}

TEST(Watch, W9_AnInternalErrorIsWatchedAgainUntilTheLimit) {
  Story run{{.first_list = FirstList::FromCache, .internal_error_limit = Seconds{3}}};
  run.watching("200");
  EXPECT_EQ(run.ends(WatchEnd::InternalError).wakes().rewatches_from(), "200");  // 0.8 s
  EXPECT_EQ(run.ends(WatchEnd::InternalError).wakes().rewatches_from(), "200");  // 2.4 s
  EXPECT_EQ(run.ends(WatchEnd::InternalError).wakes().rewatches_from(), "200");  // 5.6 s
  EXPECT_EQ(run.ends(WatchEnd::InternalError).wakes().next(), list_of(std::nullopt, "200"));
}

TEST(Watch, W10_ARefusedWatchGoesBackToTheListAndSaysSoOnce) {
  Story run;
  run.watching("200").ends(WatchEnd::Refused);
  EXPECT_EQ(run.last().notice, "watch: m");
  EXPECT_EQ(run.wakes().next(), list_of(std::nullopt, "200"));
  EXPECT_EQ(run.list_fails(ListFailure::Other).last().notice, "list: m");
  EXPECT_EQ(run.wakes().list_fails(ListFailure::Other).last().notice, "") << "one line per change of state";
  EXPECT_EQ(run.wakes().watching("210").last().notice, "works again after: list: m");
}

TEST(Watch, W11_AnUnusableEventIsLeftOutAndTheStreamGoesOn) {
  Story run;
  run.watching("200").happens(EventArrived{.type = WatchType::Modified, .resource_version = "999", .usable = false});
  EXPECT_EQ(run.cache(), CacheAction::None);
  EXPECT_EQ(run.next(), ReflectorNext(KeepReading{}));
  EXPECT_EQ(run.last().state.resource_version, "200");
}

TEST(Watch, W12_SyntheticEventsOfAnUnorderedWatchMoveNoVersion) {
  for (const char* start : {"", "0"}) {
    Story run;
    run.watching(start).sees(WatchType::Added, "50").sees(WatchType::Added, "40");
    EXPECT_EQ(run.cache(), CacheAction::ApplyEvent);
    EXPECT_EQ(run.last().state.resource_version, start);
    run.sees(WatchType::Modified, "60");
    EXPECT_EQ(run.last().state.resource_version, "60");
    run.sees(WatchType::Added, "61");
    EXPECT_EQ(run.last().state.resource_version, "61");
  }
}

TEST(Watch, W14_AnEventOverTheCapListsAgain) {
  Story run;
  run.watching("200").sees(WatchType::Added, "201").ends(WatchEnd::LineTooLong);
  EXPECT_EQ(run.wakes().next(), list_of(std::nullopt, "201"));
}

TEST(Watch, W15_AgeCountsFromSendingTheRequest) {
  Story run;  // headers withheld for two seconds, then a clean end without events: not a very short watch
  EXPECT_EQ(run.watching("200").after(Seconds{2}).ends(WatchEnd::Closed).rewatches_from(), "200");
}

TEST(Watch, W16_ASilentWatchIsWatchedAgain) {
  Story run;
  EXPECT_EQ(run.watching("200").after(Seconds{630}).ends(WatchEnd::Silent).rewatches_from(), "200");
}

TEST(Watch, W17_ABrokenStreamIsWatchedAgainFromTheLastWholeEvent) {
  Story run;
  EXPECT_EQ(run.watching("200").sees(WatchType::Added, "201").ends(WatchEnd::Lost).rewatches_from(), "201");
}

TEST(Watch, W17_AStreamThatBreaksAtOnceWithoutNewsWaits) {
  Story run;
  run.watching("200").ends(WatchEnd::Lost);
  EXPECT_EQ(run.next(), pause(milliseconds{800}));
  EXPECT_EQ(run.wakes().rewatches_from(), "200");
}

TEST(Reflector, B1_DelaysDoubleUpToThirtySeconds) {
  Story run;
  std::vector<Microseconds> delays;
  for (int i = 0; i < 8; ++i) {
    delays.push_back(run.list_fails(ListFailure::Other).waits());
    run.wakes();
  }
  EXPECT_EQ(delays, (std::vector<Microseconds>{milliseconds{800}, milliseconds{1600}, milliseconds{3200}, milliseconds{6400},
                                               milliseconds{12800}, milliseconds{25600}, Seconds{30}, Seconds{30}}));
}

TEST(Reflector, O1_VersionsAreOpaque) {
  Story run;
  run.watching("zebra").sees(WatchType::Modified, "apple").sees(WatchType::Modified, "9");
  EXPECT_EQ(run.ends(WatchEnd::Closed).rewatches_from(), "9") << "the last one seen, not the largest";
}

TEST(Relist, InterruptsAWatchWithAListThroughTheQuorum) {
  Story run;
  run.watching("200").happens(RelistAsked{});
  EXPECT_EQ(run.next(), list_of(500, std::nullopt));
  run.watching("300");
  EXPECT_TRUE(run.last().quorum_list);
  EXPECT_EQ(run.rewatches_from(), "300");
}

TEST(Relist, WhileListingStartsAnotherListBecauseThisOneBeganTooEarly) {
  Story run;
  run.happens(RelistAsked{});
  EXPECT_EQ(run.next(), list_of(500, "0")) << "the list under way is finished first";
  run.watching("200");
  EXPECT_EQ(run.cache(), CacheAction::ReplaceByPages);
  EXPECT_EQ(run.next(), list_of(500, std::nullopt));
  EXPECT_TRUE(run.watching("201").last().quorum_list);
}

TEST(Relist, KeepsTheWaitUnderWay) {
  Story run;
  run.watching("200").ends(WatchEnd::NotOpened).after(milliseconds{300}).happens(RelistAsked{});
  EXPECT_EQ(run.next(), pause(milliseconds{500}));
  EXPECT_EQ(run.wakes().next(), list_of(500, std::nullopt));
}

TEST(Relist, IsRememberedUntilAListSucceeds) {
  Story run;
  run.happens(RelistAsked{}).list_fails(ListFailure::Other).wakes();
  EXPECT_EQ(run.next(), list_of(500, std::nullopt));
  run.list_fails(ListFailure::Other).wakes();
  EXPECT_EQ(run.next(), list_of(500, std::nullopt));
}

}  // namespace
}  // namespace verl::kube
