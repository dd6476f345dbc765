// Leader election, row by row, in virtual time.
#include "kube/protocol/leader_step.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace verl::kube {
namespace {

using nlohmann::json;

LeaderOptions options_of(std::string identity, bool watch = true) {
  return {.name_space = "verl-system", .name = "verl-operator", .identity = std::move(identity), .watch = watch};
}

LeaseRecord held_by(std::string holder, std::string version, std::string renewed = "r0", int transitions = 3, int duration = 15) {
  return {.holder = std::move(holder), .duration_seconds = duration, .acquire_time = "a0", .renew_time = std::move(renewed),
          .transitions = transitions, .uid = "u", .resource_version = std::move(version)};
}

class Candidate {
 public:
  explicit Candidate(LeaderOptions options = options_of("me")) : options_(std::move(options)) { last_ = begin_election(options_, context()); }

  Candidate& happens(const LeaderInput& input) {
    last_ = step(last_.state, input, options_, context());
    return *this;
  }
  Candidate& after(Microseconds time) {
    now_ += time;
    wall_ += time;
    return *this;
  }
  Candidate& reads(LeaseRecord record) { return happens(LeaseRead{std::move(record)}); }
  Candidate& sees(LeaseRecord record) { return happens(LeaseSeen{std::move(record)}); }
  // The server takes the write under way and answers with it.
  Candidate& written(std::string version) {
    LeaseRecord record = proposal();
    record.uid = "u";
    record.resource_version = std::move(version);
    return happens(LeaseWritten{std::move(record)});
  }
  Candidate& leads() { return happens(LeaseAbsent{}).written("1"); }

  LeaseRecord proposal() const {
    if (const auto* create = std::get_if<CreateLease>(&last_.next)) return create->record;
    if (const auto* update = std::get_if<UpdateLease>(&last_.next)) return update->record;
    ADD_FAILURE() << "no write is under way";
    return {};
  }
  template <class Next>
  bool does() const { return std::holds_alternative<Next>(last_.next); }
  Microseconds pauses() const { return does<PauseElection>() ? std::get<PauseElection>(last_.next).delay : Microseconds{-1}; }
  const LeaderStep& last() const { return last_; }
  LeaderState::Role role() const { return last_.state.role; }
  double random{0};
  Timestamp wall_{std::chrono::sys_days{std::chrono::year{2026} / 11 / 30}};

 private:
  LeaderContext context() const { return {.now = now_, .wall = wall_, .random = random}; }
  LeaderOptions options_;
  Instant now_{std::chrono::hours{1}};
  LeaderStep last_{};
};
using Role = LeaderState::Role;

TEST(Leader, E1_OptionsThatCannotWorkAreRefused) {
  EXPECT_EQ(options_problem(options_of("me")), "");
  auto options = options_of("me");
  options.renew_deadline = Seconds{15};
  EXPECT_EQ(options_problem(options), "the lease duration must be longer than the renew deadline");
  options = options_of("me");
  options.retry_period = Seconds{9};
  EXPECT_EQ(options_problem(options), "the renew deadline must be longer than 1.2 retry periods");
  options.lease_duration = Seconds{4};
  options.renew_deadline = Seconds{3};
  options.retry_period = Seconds{1};
  EXPECT_EQ(options_problem(options), "");
  options.identity.clear();
  EXPECT_NE(options_problem(options), "");
}

TEST(Leader, E1_DurationsAreWholeSecondsOnTheWire) {
  Candidate me;
  me.happens(LeaseAbsent{});
  const auto body = json::parse(render_lease(me.proposal(), "verl-system", "verl-operator"));
  EXPECT_EQ(body, json::parse(R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease",
    "metadata":{"name":"verl-operator","namespace":"verl-system"},
    "spec":{"holderIdentity":"me","leaseDurationSeconds":15,"acquireTime":"2026-11-30T00:00:00.000000Z",
            "renewTime":"2026-11-30T00:00:00.000000Z","leaseTransitions":0}})"));
}

TEST(Leader, E2_AnAbsentLeaseIsCreatedAndAConflictMeansToLookWhoWon) {
  Candidate me;
  EXPECT_TRUE(me.does<GetLease>());
  me.happens(LeaseAbsent{});
  EXPECT_TRUE(me.does<CreateLease>());
  me.happens(LeaseConflict{});
  EXPECT_TRUE(me.does<GetLease>());
  me.reads(held_by("other", "5"));
  EXPECT_EQ(me.last().next, LeaderNext(WatchLease{.resource_version = "5", .silence = Seconds{15}}));
  EXPECT_EQ(me.last().new_holder, "other");
}

TEST(Leader, E3_ExpiryIsLocalTimeSinceTheClaimLastChanged) {
  Candidate me;
  me.reads(held_by("other", "5"));
  me.after(Seconds{10}).sees(held_by("other", "6", "r1"));
  EXPECT_TRUE(me.does<KeepWatching>());
  me.after(Seconds{14}).happens(LeaseWatchOver{});
  EXPECT_EQ(me.last().next, LeaderNext(WatchLease{.resource_version = "6", .silence = Seconds{1}}));
  me.after(Seconds{1}).happens(LeaseWatchOver{});
  ASSERT_TRUE(me.does<UpdateLease>());
  EXPECT_EQ(me.proposal().resource_version, "6") << "guarded by the version that was judged";
  EXPECT_TRUE(me.written("7").last().started);
}

TEST(Leader, E3_AnEventThatIsNoSignOfLifeDoesNotPutOffTheExpiry) {
  Candidate me;
  me.reads(held_by("other", "5")).after(Seconds{10}).sees(held_by("other", "6"));  // only a label changed
  EXPECT_EQ(me.last().next, LeaderNext(WatchLease{.resource_version = "6", .silence = Seconds{5}}));
}

TEST(Leader, E3_TheHoldersOwnDurationCounts) {
  Candidate me;
  me.reads(held_by("other", "5", "r0", 3, 60)).after(Seconds{59}).happens(LeaseWatchOver{});
  EXPECT_TRUE(me.does<WatchLease>());
  me.after(Seconds{1}).happens(LeaseWatchOver{});
  EXPECT_TRUE(me.does<UpdateLease>());
}

TEST(Leader, E3_PollingJudgesInTheSameWay) {
  Candidate me(options_of("me", false));
  me.random = 0.5;
  me.reads(held_by("other", "5"));
  EXPECT_EQ(me.pauses(), std::chrono::milliseconds{3200});
  me.after(Seconds{15}).happens(ElectionWoken{});
  EXPECT_TRUE(me.does<GetLease>());
  me.reads(held_by("other", "5"));
  EXPECT_TRUE(me.does<UpdateLease>());
}

TEST(Leader, E4_AWrongClockOfTheHolderHasNoEffect) {
  for (const char* renewed : {"1999-01-01T00:00:00.000000Z", "2099-01-01T00:00:00.000000Z", "yesterday", ""}) {
    Candidate me;
    me.reads(held_by("other", "5", renewed));
    EXPECT_TRUE(me.does<WatchLease>()) << renewed;
    me.after(Seconds{15}).happens(LeaseWatchOver{});
    EXPECT_TRUE(me.does<UpdateLease>()) << renewed;
  }
}

TEST(Leader, E4_AStepOfTheOwnWallClockHasNoEffect) {
  Candidate me;
  me.reads(held_by("other", "5"));
  me.wall_ += std::chrono::hours{24};
  me.after(Seconds{1}).happens(LeaseWatchOver{});
  EXPECT_TRUE(me.does<WatchLease>());
}

TEST(Leader, E5_RenewsWithTheLastRecordAndReadsOnlyAfterAFailure) {
  Candidate me;
  me.leads();
  EXPECT_EQ(me.pauses(), Seconds{2});
  me.after(Seconds{2}).happens(ElectionWoken{});
  ASSERT_TRUE(me.does<UpdateLease>());
  EXPECT_EQ(me.proposal().resource_version, "1");
  EXPECT_EQ(me.proposal().renew_time, "2026-11-30T00:00:02.000000Z");
  EXPECT_EQ(me.proposal().acquire_time, "2026-11-30T00:00:00.000000Z");
  me.happens(LeaseCallFailed{"refused"});
  EXPECT_TRUE(me.does<GetLease>());
  me.happens(LeaseCallFailed{"refused"});
  EXPECT_EQ(me.pauses(), Seconds{2}) << "one read a try";
  me.after(Seconds{2}).happens(ElectionWoken{}).happens(LeaseCallFailed{"refused"}).reads(held_by("me", "9"));
  ASSERT_TRUE(me.does<UpdateLease>());
  EXPECT_EQ(me.proposal().resource_version, "9") << "our own write whose answer was lost";
  EXPECT_EQ(me.written("10").role(), Role::Leader);
}

TEST(Leader, E6_AConflictIsReadAndAnotherHolderEndsLeadingAtOnce) {
  Candidate me;
  me.leads().after(Seconds{2}).happens(ElectionWoken{}).happens(LeaseConflict{});
  EXPECT_TRUE(me.does<GetLease>());
  me.reads(held_by("other", "8"));
  EXPECT_EQ(me.last().lost, "the lease was taken by other");
  EXPECT_TRUE(me.does<EndElection>());
}

TEST(Leader, E6_AConflictOfOurOwnMakingIsOvercome) {
  Candidate me;
  me.leads().after(Seconds{2}).happens(ElectionWoken{}).happens(LeaseConflict{}).reads(held_by("me", "8"));
  EXPECT_TRUE(me.does<UpdateLease>());
  EXPECT_EQ(me.written("9").role(), Role::Leader);
}

TEST(Leader, E6_AClearedLeaseEndsLeading) {
  Candidate me;
  me.leads().after(Seconds{2}).happens(ElectionWoken{}).happens(LeaseConflict{}).reads(held_by("", "8"));
  EXPECT_EQ(me.last().lost, "somebody cleared the lease");
}

TEST(Leader, E7_AnUnreachableApiserverEndsLeadingAtTheRenewDeadline) {
  Candidate me;
  me.leads();
  Seconds waited{0};
  while (me.role() == Role::Leader && waited < Seconds{60}) {
    me.after(Seconds{2}).happens(ElectionWoken{});
    waited += Seconds{2};
    if (me.role() == Role::Leader) me.happens(LeaseCallFailed{"no route"}).happens(LeaseCallFailed{"no route"});
  }
  EXPECT_EQ(waited, Seconds{10});
  EXPECT_NE(me.last().lost, "");
}

TEST(Leader, E7_LeadingCountsFromTheSendingOfTheRenewal) {
  Candidate me;
  me.happens(LeaseAbsent{}).after(Seconds{4}).written("1");
  EXPECT_EQ(leads_until(me.last().state, options_of("me")) - me.last().state.request_sent, Seconds{10});
  me.after(Seconds{6}).happens(ElectionWoken{});
  EXPECT_NE(me.last().lost, "") << "ten seconds after the create was sent, not after its answer";
}

TEST(Leader, E7_AnAcquisitionThatTookLongerThanTheDeadlineDoesNotLead) {
  Candidate me;
  me.happens(LeaseAbsent{}).after(Seconds{11}).written("1");
  EXPECT_FALSE(me.last().started);
  EXPECT_EQ(me.last().lost, "");
  me.happens(ElectionWoken{}).reads(held_by("me", "1"));
  EXPECT_TRUE(me.written("2").last().started);
}

TEST(Leader, E8_ACleanShutdownGivesTheLeaseBack) {
  Candidate me;
  me.leads().happens(StopElection{});
  EXPECT_EQ(me.proposal().holder, "");
  EXPECT_EQ(me.proposal().duration_seconds, 1);
  EXPECT_EQ(me.proposal().transitions, 0);
  EXPECT_EQ(me.proposal().resource_version, "1");
  me.written("2");
  EXPECT_TRUE(me.does<EndElection>());
  EXPECT_EQ(me.last().lost, "");
}

TEST(Leader, E8_AFollowerHasNothingToGiveBack) {
  Candidate me;
  me.reads(held_by("other", "5")).happens(StopElection{});
  EXPECT_TRUE(me.does<EndElection>());
}

TEST(Leader, E8_AReleasedLeaseIsTakenAtOnce) {
  Candidate me;
  me.reads(held_by("other", "5")).after(Seconds{1}).sees(held_by("", "6", "r1", 3, 1));
  ASSERT_TRUE(me.does<UpdateLease>());
  EXPECT_EQ(me.proposal().resource_version, "6");
}

TEST(Leader, E9_TransitionsCountChangesOfHolderAndNothingElse) {
  Candidate me;
  me.reads(held_by("", "6", "r1", 3, 1));
  EXPECT_EQ(me.proposal().transitions, 4);
  me.written("7").after(Seconds{2}).happens(ElectionWoken{});
  EXPECT_EQ(me.proposal().transitions, 4) << "a renewal";

  Candidate again;
  again.reads(held_by("me", "6"));
  EXPECT_EQ(again.proposal().transitions, 3) << "the acquisition whose answer was lost";
  EXPECT_EQ(Candidate{}.happens(LeaseAbsent{}).proposal().transitions, 0);
}

TEST(Leader, E9_TransitionsDoNotFallWhenTheLeaseIsDeleted) {
  Candidate follower;
  follower.reads(held_by("other", "5", "r0", 7)).happens(LeaseAbsent{});
  EXPECT_TRUE(follower.does<CreateLease>());
  EXPECT_EQ(follower.proposal().transitions, 8);
  EXPECT_EQ(follower.proposal().resource_version, "");

  Candidate leader;
  leader.reads(held_by("", "5", "r0", 7)).written("6").after(Seconds{2}).happens(ElectionWoken{}).happens(LeaseAbsent{});
  EXPECT_TRUE(leader.does<CreateLease>());
  EXPECT_EQ(leader.proposal().transitions, 8);
}

TEST(Leader, E10_APausedLeaderStepsDownBeforeItWritesAgain) {
  Candidate old;
  old.leads().after(Seconds{30}).happens(ElectionWoken{});  // SIGSTOP for longer than the lease
  EXPECT_TRUE(old.does<EndElection>());
  EXPECT_NE(old.last().lost, "");
}

TEST(Leader, AWatchThatFailsOrEndsAtOnceIsFollowedByAPause) {
  Candidate me;
  me.random = 0.5;
  me.reads(held_by("other", "5")).after(Seconds{3}).happens(LeaseWatchOver{.failed = true});
  EXPECT_EQ(me.pauses(), std::chrono::milliseconds{3200});
  me.happens(ElectionWoken{});
  EXPECT_TRUE(me.does<GetLease>());
  me.reads(held_by("other", "6", "r1")).after(std::chrono::milliseconds{100}).happens(LeaseWatchOver{});
  EXPECT_EQ(me.pauses(), std::chrono::milliseconds{3200});
}

TEST(Leader, EndlessConflictsPause) {
  Candidate me;
  me.reads(held_by("", "1"));
  for (int i = 0; i < 3; ++i) me.happens(LeaseConflict{}).reads(held_by("", std::to_string(i)));
  EXPECT_TRUE(me.does<UpdateLease>());
  EXPECT_EQ(me.happens(LeaseConflict{}).pauses(), Seconds{2});
}

TEST(LeaseRecord, LabelsAndUnknownFieldsSurviveAnUpdate) {
  const auto lease = parse_lease(R"({"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"x","namespace":"n","uid":"u",
    "resourceVersion":"5","labels":{"a":"b"},"managedFields":[{}]},"spec":{"holderIdentity":"other","leaseDurationSeconds":15,"strategy":"New"}})");
  ASSERT_TRUE(lease);
  const auto body = json::parse(render_lease(*lease, "n", "x"));
  EXPECT_EQ(body["metadata"]["labels"]["a"], "b");
  EXPECT_EQ(body["metadata"]["resourceVersion"], "5");
  EXPECT_FALSE(body["metadata"].contains("managedFields"));
  EXPECT_EQ(body["spec"]["strategy"], "New");
}

TEST(LeaseRecord, OddLeasesAreReadAsFarAsTheyGo) {
  const auto bare = parse_lease(R"({"kind":"Lease","metadata":{"resourceVersion":"5"}})");
  ASSERT_TRUE(bare);
  EXPECT_EQ(bare->holder, "");
  const auto odd = parse_lease(R"({"kind":"Lease","metadata":{"resourceVersion":"5"},"spec":{"holderIdentity":null,"leaseDurationSeconds":-4,"leaseTransitions":99999999999}})");
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->duration_seconds, 0);
  for (const char* text : {"", "null", "[]", R"({"kind":"Status"})", R"({"kind":"Lease"})"}) EXPECT_FALSE(parse_lease(text)) << text;
}

}  // namespace
}  // namespace verl::kube
