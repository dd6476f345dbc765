// The life of jobs, told round by round against a simulated cluster.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "builders.h"

namespace verl::core::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

Plan only(const std::vector<Plan>& plans) {
  EXPECT_EQ(plans.size(), 1U);
  return plans.empty() ? Plan{} : plans.front();
}

std::vector<std::string> nodes_of(const api::VerlJob& job) {
  std::vector<std::string> nodes;
  if (!job.status.placement) return nodes;
  for (const api::RankPlacement& rank : job.status.placement->ranks) nodes.push_back(rank.node);
  return nodes;
}

Simulation placed(int racks, int per_rack, int nodes) {
  Simulation sim(cluster(racks, per_rack));
  add_job(sim.world, "a", nodes);
  sim.round();
  sim.round();
  EXPECT_TRUE(sim.job("a").status.placement.has_value());
  return sim;
}

Simulation running(int racks, int per_rack, int nodes) {
  Simulation sim(cluster(racks, per_rack));
  add_job(sim.world, "a", nodes);
  sim.run("a");
  EXPECT_EQ(sim.job("a").status.phase, "Running");
  return sim;
}

// ---- the first rounds

TEST(Story, TheFirstVisitAsksForADryRunAndWritesEveryCondition) {
  Simulation sim(cluster(1, 2));
  add_job(sim.world, "a", 2);
  const Plan plan = only(sim.round());
  EXPECT_EQ(actions_of<DryRunPods>(plan).size(), 1U);
  EXPECT_TRUE(actions_of<CreatePods>(plan).empty());
  EXPECT_EQ(condition_line(sim.job("a").status),
            "Ready=False/Checking Reconciling=True/Queued Stalled=False/NotStalled Succeeded=Unknown/NotFinished Suspended=False/NotSuspended "
            "PlacementFound=False/Checking PodsCreated=False/NotCreated RayClusterReady=False/NotWhole");
}

TEST(Story, AJobThatCannotEverRunHasEveryConditionToo) {
  Simulation sim(cluster(1, 2));
  add_job(sim.world, "a", 2).spec.image = "";
  sim.settle();
  const api::VerlJobStatus& status = sim.job("a").status;
  EXPECT_EQ(status.phase, "Failed");
  EXPECT_EQ(condition_line(status),
            "Ready=False/InvalidSpec Reconciling=False/Finished Stalled=True/InvalidSpec Succeeded=False/InvalidSpec Suspended=False/NotSuspended "
            "PlacementFound=False/InvalidSpec PodsCreated=False/NotCreated RayClusterReady=False/NotWhole");
  EXPECT_FALSE(status.finished_at);
}

TEST(Story, ACorrectedSpecIsLookedAtAgain) {
  Simulation sim(cluster(1, 2));
  add_job(sim.world, "a", 2).spec.image = "";
  sim.settle();
  sim.job("a").spec.image = "registry.example/verl:1";
  ++sim.job("a").meta.generation;
  sim.run("a");
  EXPECT_EQ(sim.job("a").status.phase, "Running");
  EXPECT_EQ(condition(sim.job("a").status, "Stalled").status, api::ConditionStatus::False);
}

TEST(Story, APlacementIsWrittenAloneAndPodsAreMadeInALaterRound) {
  Simulation sim(cluster(2, 2));
  add_job(sim.world, "a", 2);
  sim.round();
  const Plan second = only(sim.round());
  ASSERT_TRUE(second.status && second.status->placement);
  EXPECT_EQ(second.actions.size(), actions_of<EmitEvent>(second).size()) << told(second);
  const Plan third = only(sim.round());
  ASSERT_EQ(actions_of<CreatePods>(third).size(), 1U) << told(third);
  EXPECT_EQ(actions_of<CreatePods>(third)[0].pods.size(), 2U);
  EXPECT_EQ(actions_of<CreateSecret>(third).size(), 1U);
}

TEST(Story, AllPodsGetANodeOrNoneDoes) {
  Simulation sim(cluster(2, 2));
  add_job(sim.world, "a", 5);
  sim.settle();
  EXPECT_FALSE(sim.job("a").status.placement);
  EXPECT_TRUE(sim.world.pods.empty());
  EXPECT_EQ(sim.job("a").status.reason, "ShortOfNodes");
  EXPECT_EQ(condition(sim.job("a").status, "Ready").message, "needs 5 fit nodes; 4 of 4 are fit. Waiting since 00:53:20, position 1 of the queue.");
}

TEST(Story, ARequiredRackThatIsNotThereIsNamedWithWhatWouldHelp) {
  Simulation sim(cluster(2, 3));
  add_job(sim.world, "a", 3).spec.topology = {.level = "rack", .mode = api::TopologyMode::Required};
  for (const char* name : {"n01", "n04", "n05"}) {
    sim.world.reports[name].status.findings[1] = {.check = "mtu-interface", .verdict = Verdict::Fail, .subject = "ens3f0", .seen = "1500", .wanted = ">= 9000"};
  }
  sim.settle();
  EXPECT_EQ(sim.job("a").status.reason, "ShortOfNodesInRack");
  EXPECT_THAT(condition(sim.job("a").status, "Ready").message,
              StartsWith("needs 3 fit nodes in one rack; rack r0 has 2 of 3: n01 MTUInterface (ens3f0 1500, wants >= 9000)"));
}

TEST(Story, RanksFollowTheStringOrderOfAddresses) {
  Simulation sim(cluster(1, 3));
  sim.world.nodes["n00"].internal_ip = "10.0.0.9";
  sim.world.nodes["n01"].internal_ip = "10.0.0.10";
  sim.world.nodes["n02"].internal_ip = "10.0.0.100";
  add_job(sim.world, "a", 3);
  sim.settle();
  EXPECT_THAT(nodes_of(sim.job("a")), ElementsAre("n01", "n02", "n00"));
}

// ---- a whole life

TEST(Story, AJobRunsAndSucceeds) {
  Simulation sim = running(2, 2, 2);
  EXPECT_EQ(sim.job("a").status.ready, "2/2");
  EXPECT_EQ(condition_line(sim.job("a").status),
            "Ready=True/Running Reconciling=False/Running Stalled=False/NotStalled Succeeded=Unknown/NotFinished Suspended=False/NotSuspended "
            "PlacementFound=True/Placed PodsCreated=True/Created RayClusterReady=True/Whole");
  sim.end_driver("a", 0, kPassed);
  const Plan end = only(sim.round());
  EXPECT_TRUE(actions_of<DeletePod>(end).empty()) << "the end is written before a pod goes\n" << told(end);
  const api::VerlJobStatus& status = sim.job("a").status;
  EXPECT_EQ(status.exit_code, 0);
  EXPECT_EQ(status.finished_at, sim.world.now);
  EXPECT_EQ(condition_line(status),
            "Ready=True/Succeeded Reconciling=False/Finished Stalled=False/NotStalled Succeeded=True/Succeeded Suspended=False/NotSuspended "
            "PlacementFound=True/Placed PodsCreated=True/Created RayClusterReady=True/Whole");
  sim.advance(Seconds{29});
  sim.settle();
  EXPECT_FALSE(sim.pod("a-1-1").meta.deleted);
  sim.advance(Seconds{1});
  sim.settle();
  EXPECT_TRUE(sim.pod("a-1-1").meta.deleted);
}

TEST(Story, AFinishedJobGoesWhenItsTimeToLiveIsOver) {
  Simulation sim = running(1, 2, 2);
  sim.job("a").spec.ttl_after_finished = Seconds{100};
  sim.end_driver("a", 0, kPassed);
  sim.settle();
  sim.advance(Seconds{99});
  sim.settle();
  EXPECT_TRUE(sim.world.jobs.contains("rl/a"));
  sim.advance(Seconds{1});
  sim.round();
  EXPECT_FALSE(sim.world.jobs.contains("rl/a"));
}

TEST(Story, AChangeOfAFinishedJobIsSeen) {
  Simulation sim = running(1, 2, 2);
  sim.end_driver("a", 0, kPassed);
  sim.settle();
  sim.job("a").spec.ttl_after_finished = Seconds{3600};
  ++sim.job("a").meta.generation;
  sim.settle();
  EXPECT_EQ(sim.job("a").status.observed_generation, 2);
  EXPECT_EQ(condition(sim.job("a").status, "Succeeded").observed_generation, 2);
}

TEST(Story, AWrongTrainerEndsTheJobWithItsCode) {
  Simulation sim = running(1, 2, 2);
  sim.end_driver("a", 3, kPassed);
  sim.settle();
  const api::VerlJobStatus& status = sim.job("a").status;
  EXPECT_EQ(status.exit_code, 3);
  EXPECT_EQ(status.reason, "TrainerFailed");
  EXPECT_EQ(condition(status, "Ready").message, "the trainer ended with exit code 3; kubectl logs -n rl a-1-0 -c driver");
  EXPECT_EQ(condition(status, "Stalled").status, api::ConditionStatus::True);
  EXPECT_EQ(status.attempts.infrastructure_restarts, 0);
}

TEST(Story, UserRestartsAreCountedApart) {
  Simulation sim(cluster(1, 2));
  add_job(sim.world, "a", 2).spec.recovery.user_restarts = 1;
  sim.run("a");
  sim.end_driver("a", 3, kPassed);
  sim.settle();
  EXPECT_EQ(sim.job("a").status.phase, "Recovering");
  sim.remove_deleted();
  sim.run("a");
  EXPECT_EQ(sim.job("a").status.phase, "Running");
  EXPECT_EQ(sim.job("a").status.attempts.user_restarts, 1);
  EXPECT_EQ(sim.job("a").status.attempts.infrastructure_restarts, 0);
  sim.end_driver("a", 4, kPassed);
  sim.settle();
  EXPECT_EQ(sim.job("a").status.phase, "Failed");
  EXPECT_EQ(sim.job("a").status.exit_code, 4);
}

TEST(Story, InfrastructureRestartsUntilTheBudgetIsUsed) {
  Simulation sim(cluster(1, 8));
  add_job(sim.world, "a", 2).spec.recovery.infrastructure_restarts = 2;
  for (int attempt = 1; attempt <= 3; ++attempt) {
    sim.run("a");
    ASSERT_EQ(sim.job("a").status.phase, "Running") << attempt;
    ASSERT_EQ(sim.job("a").status.placement->attempt, attempt);
    sim.world.nodes[nodes_of(sim.job("a"))[1]].boot_id += "x";
    sim.settle();
    sim.remove_deleted();
  }
  EXPECT_EQ(sim.job("a").status.phase, "Failed");
  EXPECT_EQ(sim.job("a").status.reason, "NodeLost");
  EXPECT_THAT(condition(sim.job("a").status, "Ready").message, HasSubstr("(attempt 3; all 2 infrastructure restarts are used)"));
  EXPECT_EQ(condition_line(sim.job("a").status).substr(0, 75), "Ready=False/NodeLost Reconciling=False/Finished Stalled=True/NodeLost Succe");
}

TEST(Story, TheNextAttemptStartsOnlyWhenNoPodOfTheOneBeforeExists) {
  Simulation sim = running(1, 4, 2);
  sim.world.nodes["n01"].boot_id = "another";
  sim.settle();
  EXPECT_EQ(sim.job("a").status.reason, "WaitingForPodsToEnd");
  EXPECT_FALSE(sim.job("a").status.placement);
  for (const api::Pod* pod : sim.pods("a")) EXPECT_TRUE(pod->meta.deleted) << pod->meta.name;
  EXPECT_EQ(condition(sim.job("a").status, "Ready").reason, "WaitingForPodsToEnd");
  sim.world.pods.erase("rl/a-1-0");
  sim.settle();
  EXPECT_FALSE(sim.job("a").status.placement);
  EXPECT_EQ(condition(sim.job("a").status, "Ready").message,
            "1 pod of an earlier attempt is still there: a-1-1 on n01; the next attempt starts when they are gone");
  sim.advance(Seconds{600});
  for (auto& age : sim.world.ages) age.second = Seconds{5};
  sim.settle();
  EXPECT_THAT(condition(sim.job("a").status, "Ready").message, HasSubstr("kubectl delete node n01"));
  sim.remove_deleted();
  sim.settle();
  ASSERT_TRUE(sim.job("a").status.placement);
  EXPECT_EQ(sim.job("a").status.placement->attempt, 2);
}

TEST(Story, APodOfAnEarlierAttemptThatShowsUpLateHoldsTheNextOneBack) {
  Simulation sim = placed(1, 4, 2);
  api::Pod late{.owner_uid = "job-a", .phase = "Pending"};
  late.meta.name_space = "rl";
  late.meta.name = "a-0-0";
  late.meta.labels = {{"verl.run/job-name", "a"}, {"verl.run/attempt", "0"}, {"verl.run/rank", "0"}};
  sim.world.pods["rl/a-0-0"] = late;
  const Plan plan = only(sim.round());
  EXPECT_TRUE(actions_of<CreatePods>(plan).empty()) << told(plan);
  EXPECT_EQ(actions_of<DeletePod>(plan).size(), 1U);
  sim.remove_deleted();
  EXPECT_EQ(actions_of<CreatePods>(only(sim.round())).size(), 1U);
}

TEST(Story, SuspendingEndsThePodsAndResumingStartsAnotherAttempt) {
  Simulation sim = running(1, 2, 2);
  sim.job("a").spec.suspend = true;
  ++sim.job("a").meta.generation;
  const Plan first = only(sim.round());
  EXPECT_TRUE(actions_of<DeletePod>(first).empty()) << "the placement goes first";
  sim.settle();
  EXPECT_EQ(actions_of<DeletePod>(first).size(), 0U);
  for (const api::Pod* pod : sim.pods("a")) EXPECT_TRUE(pod->meta.deleted);
  sim.remove_deleted();
  sim.settle();
  EXPECT_EQ(condition_line(sim.job("a").status),
            "Ready=False/Suspended Reconciling=False/Suspended Stalled=False/NotStalled Succeeded=Unknown/NotFinished Suspended=True/Suspended "
            "PlacementFound=False/Suspended PodsCreated=False/NotCreated RayClusterReady=False/NotWhole");
  EXPECT_EQ(sim.job("a").status.ready, "0/2");
  sim.job("a").spec.suspend = false;
  ++sim.job("a").meta.generation;
  sim.run("a");
  EXPECT_EQ(sim.job("a").status.phase, "Running");
  EXPECT_EQ(sim.job("a").status.placement->attempt, 2);
  EXPECT_EQ(sim.job("a").status.attempts.infrastructure_restarts, 0);
}

TEST(Story, RecoveringIsNeitherReadyNorStalled) {
  Simulation sim = running(1, 4, 2);
  sim.world.nodes["n00"].boot_id = "another";
  sim.round();
  EXPECT_THAT(condition_line(sim.job("a").status), StartsWith("Ready=False/NodeLost Reconciling=True/Recovering Stalled=False/NotStalled Succeeded=Unknown/"));
  EXPECT_EQ(condition(sim.job("a").status, "Ready").message, "attempt 1 ended: node n00 has rebooted");
  EXPECT_EQ(sim.job("a").status.ready, "0/2");
}

// ---- what goes wrong between a placement and its pods

TEST(Story, AStrangerThatTakesAPromisedGpuWithdrawsThePlacement) {
  Simulation sim = placed(1, 3, 2);
  const std::string victim = nodes_of(sim.job("a"))[1];
  add_stranger(sim.world, "thief", victim, {{"nvidia.com/gpu", 1000}});
  const Plan plan = only(sim.round());
  EXPECT_TRUE(actions_of<CreatePods>(plan).empty()) << told(plan);
  EXPECT_EQ(sim.job("a").status.reason, "PlacementWithdrawn");
  EXPECT_EQ(sim.job("a").status.head_address, "");
  EXPECT_EQ(condition(sim.job("a").status, "Ready").message,
            "before its pods were made, node n01 turned InsufficientResource: nvidia.com/gpu free: 7 of 8, wants 8");
  sim.settle();
  EXPECT_THAT(nodes_of(sim.job("a")), ElementsAre("n00", "n02"));
  EXPECT_EQ(sim.job("a").status.attempts.infrastructure_restarts, 0);
}

TEST(Story, ANodeMadeAgainUnderItsNameIsAnotherNode) {
  Simulation sim = placed(1, 3, 2);
  sim.world.nodes["n00"].meta.uid = "another";
  sim.round();
  EXPECT_EQ(condition(sim.job("a").status, "Ready").message,
            "before its pods were made: node n00 was deleted and made again under the same name");
}

TEST(Story, TheLaterOfTwoOverlappingPlacementsGivesWay) {
  Simulation sim(cluster(1, 2));
  add_job(sim.world, "a", 2);
  sim.settle();
  add_job(sim.world, "b", 2);
  api::Placement same = *sim.job("a").status.placement;
  sim.world.pods.clear();
  sim.job("a").status.placement = same;
  sim.job("b").status.placement = same;
  set_condition(sim.job("a").status.conditions, {.type = "PodsCreated", .status = api::ConditionStatus::False, .reason = "NotCreated"});
  std::map<std::string, std::string> reasons;
  for (const Plan& plan : sim.round()) reasons[plan.job] = plan.status ? plan.status->reason : "";
  EXPECT_EQ(reasons["b"], "PlacementWithdrawn");
  EXPECT_TRUE(sim.job("a").status.placement);
  EXPECT_EQ(sim.pods("a").size(), 2U);
  EXPECT_TRUE(sim.pods("b").empty());
}

TEST(Story, AHigherPriorityKeepsAnOverlappingPlacementAgainstAnOlderJob) {
  Simulation sim(cluster(1, 2));
  add_job(sim.world, "old", 2);
  sim.settle();
  api::VerlJob& urgent = add_job(sim.world, "new", 2);
  urgent.spec.priority_class = "urgent";
  urgent.status.placement = sim.job("old").status.placement;
  sim.world.pods.clear();
  set_condition(sim.job("old").status.conditions, {.type = "PodsCreated", .status = api::ConditionStatus::False, .reason = "NotCreated"});
  sim.round();
  EXPECT_FALSE(sim.job("old").status.placement);
  EXPECT_TRUE(sim.job("new").status.placement);
}

TEST(Story, AJobThatMayHavePodsKeepsItsNodesAgainstAnOldLeadersPlacement) {
  Simulation sim = placed(1, 2, 2);
  api::VerlJob& urgent = add_job(sim.world, "new", 2);
  urgent.spec.priority_class = "urgent";
  urgent.status.placement = sim.job("a").status.placement;
  sim.world.held = {"job-a"};  // its pods were just made and are not seen yet
  sim.round();
  EXPECT_TRUE(sim.job("a").status.placement);
  EXPECT_FALSE(sim.job("new").status.placement);
}

TEST(Story, APodRefusedBeforeAnyWasMadeSendsTheJobBackToTheQueue) {
  Simulation sim = placed(1, 2, 2);
  sim.world.dry_runs["job-a"] = {{.job_generation = 1, .asked = sim.world.now, .refusal_reason = "PodRefused", .refusal_message = "exceeded quota"}};
  sim.round();
  EXPECT_FALSE(sim.job("a").status.placement);
  EXPECT_EQ(sim.job("a").status.reason, "PodRefused");
  sim.settle();
  EXPECT_EQ(sim.job("a").status.reason, "PodRefused") << "it is asked again only after a while";
  EXPECT_EQ(sim.job("a").status.attempts.infrastructure_restarts, 0);
  sim.advance(Seconds{60});
  sim.settle();
  EXPECT_TRUE(sim.job("a").status.placement);
}

TEST(Story, APodRefusedInMidGangEndsTheAttempt) {
  Simulation sim = placed(1, 2, 2);
  sim.round();
  sim.world.pods.erase("rl/a-1-1");
  sim.world.dry_runs["job-a"] = {{.job_generation = 1, .asked = sim.world.now, .refusal_reason = "PodRefused", .refusal_message = "exceeded quota"}};
  sim.round();
  EXPECT_FALSE(sim.job("a").status.placement);
  EXPECT_EQ(sim.job("a").status.attempts.infrastructure_restarts, 1);
  EXPECT_EQ(sim.job("a").status.attempts.last_reason, "PodRefused");
}

TEST(Story, APlacementWhosePodsCannotBeMadeIsGivenUp) {
  Simulation sim = placed(1, 2, 2);
  sim.advance(Seconds{300});
  sim.round();
  EXPECT_EQ(sim.job("a").status.reason, "PodsNotCreated");
  EXPECT_FALSE(sim.job("a").status.placement);
}

TEST(Story, AGangThatStaysInPartIsGivenUp) {
  Simulation sim = placed(1, 2, 2);
  sim.round();
  sim.world.pods.erase("rl/a-1-1");
  const Plan again = only(sim.round());
  ASSERT_EQ(actions_of<CreatePods>(again).size(), 1U);
  EXPECT_EQ(actions_of<CreatePods>(again)[0].pods[0].first, "a-1-1");
  sim.world.pods.erase("rl/a-1-1");
  sim.advance(Seconds{60});
  sim.round();
  EXPECT_EQ(sim.job("a").status.attempts.last_reason, "PodsNotCreated");
}

TEST(Story, AJobWhoseOwnWriteIsNotInTheCacheIsCountedButNotActedOn) {
  Simulation sim(cluster(1, 2));
  add_job(sim.world, "a", 2);
  sim.settle();
  add_job(sim.world, "b", 2);
  sim.world.held = {"job-a", "job-b"};
  EXPECT_THAT(plan_round(snapshot(sim.world)).plans, IsEmpty());
}

TEST(Story, APlacementWhoseAnswerWasLostHoldsItsNodesAndNobodyElse) {
  Simulation sim(cluster(1, 4));
  for (const char* name : {"a", "b", "c"}) add_job(sim.world, name, 2);
  sim.round();  // dry runs
  const auto first = plan_round(snapshot(sim.world)).plans;
  ASSERT_EQ(first[0].job, "a");
  ASSERT_TRUE(first[0].status && first[0].status->placement);
  const api::Placement lost = *first[0].status->placement;

  // The write of a's placement got no answer and the cache does not show it.
  sim.world.held = {"job-a"};
  sim.world.unseen["job-a"] = lost;
  const auto plans = plan_round(snapshot(sim.world)).plans;
  ASSERT_EQ(plans.size(), 2U);
  EXPECT_EQ(plans[0].job, "b");
  ASSERT_TRUE(plans[0].status && plans[0].status->placement);
  for (const api::RankPlacement& rank : plans[0].status->placement->ranks) {
    for (const api::RankPlacement& taken : lost.ranks) EXPECT_NE(rank.node, taken.node);
  }
  EXPECT_EQ(plans[1].status->reason, "ShortOfNodes");
}

TEST(Story, AHeldJobKeepsItsPlaceInTheQueue) {
  Simulation sim(cluster(1, 2));
  for (const char* name : {"a", "b"}) add_job(sim.world, name, 2);
  sim.round();  // dry runs
  sim.world.held = {"job-a"};
  const Plan plan = only(plan_round(snapshot(sim.world)).plans);
  EXPECT_EQ(plan.job, "b");
  EXPECT_EQ(plan.status->reason, "ShortOfNodes");
}

TEST(Story, NobodyIsGivenNodesBesideAPodThatCannotBeRead) {
  Simulation sim(cluster(1, 2));
  add_job(sim.world, "a", 1);
  sim.world.unreadable_pods = {"other/odd"};
  sim.settle();
  EXPECT_FALSE(sim.job("a").status.placement);
  EXPECT_EQ(sim.job("a").status.reason, "PodUnreadable");
  EXPECT_THAT(condition(sim.job("a").status, "Ready").message, HasSubstr("other/odd"));
  sim.world.unreadable_pods.clear();
  sim.settle();
  EXPECT_TRUE(sim.job("a").status.placement);
}

// ---- policies and reports

TEST(Story, ATightenedPolicyAdmitsNothingWhileAgentsAreSilent) {
  Simulation sim(cluster(2, 2));
  sim.world.policies["p"].spec.expectations.thresholds.mtu_min = 9001;
  ++sim.world.policies["p"].meta.generation;
  add_job(sim.world, "a", 1);
  sim.settle();
  EXPECT_EQ(sim.job("a").status.reason, "ShortOfNodes");
  EXPECT_THAT(condition(sim.job("a").status, "Ready").message, HasSubstr("ReportOutdated"));
  // The operator asks anew; the old findings still prove nothing.
  for (auto& entry : sim.world.reports) {
    entry.second.spec = report_spec(snapshot(sim.world), sim.world.nodes[entry.first]);
    entry.second.meta.generation = 2;
  }
  sim.settle();
  EXPECT_EQ(sim.job("a").status.reason, "ShortOfNodes");
  sim.world.reports["n02"].status.observed_generation = 2;
  sim.settle();
  EXPECT_THAT(nodes_of(sim.job("a")), ElementsAre("n02"));
}

TEST(Story, APolicyTightenedAfterThePlacementWithdrawsIt) {
  Simulation sim = placed(1, 2, 2);
  ++sim.world.policies["p"].meta.generation;
  sim.round();
  EXPECT_EQ(sim.job("a").status.reason, "PlacementWithdrawn");
}

// ---- quota, classes, deadlines

api::ResourceQuota gpu_quota(std::int64_t hard, std::int64_t used) {
  api::ResourceQuota quota{.hard = {{"requests.nvidia.com/gpu", hard * 1000}}, .used = {{"requests.nvidia.com/gpu", used * 1000}}};
  quota.meta.name_space = "rl";
  quota.meta.name = "team";
  return quota;
}

TEST(Story, QuotaIsCheckedForTheWholeGang) {
  Simulation sim(cluster(1, 2));
  sim.world.quotas["team"] = gpu_quota(20, 8);
  add_job(sim.world, "a", 2);
  sim.settle();
  EXPECT_EQ(sim.job("a").status.reason, "QuotaExceeded");
  EXPECT_EQ(condition(sim.job("a").status, "Ready").message,
            "ResourceQuota team allows 20 of requests.nvidia.com/gpu and 8 are in use; the gang of 2 pods needs 16");
  sim.world.quotas["team"] = gpu_quota(24, 8);
  sim.settle();
  EXPECT_TRUE(sim.job("a").status.placement);
}

TEST(Story, AQuotaThatCannotBeReadAdmitsNothing) {
  Simulation sim(cluster(1, 2));
  sim.world.quotas["team"] = gpu_quota(24, 8);
  sim.world.quotas["team"].unreadable = {"spec.hard.pods: lots"};
  add_job(sim.world, "a", 2);
  sim.settle();
  EXPECT_EQ(sim.job("a").status.reason, "QuotaUnreadable");
  EXPECT_FALSE(sim.job("a").status.placement);
}

TEST(Story, TwoJobsPlacedTogetherShareOneQuota) {
  Simulation sim(cluster(1, 2));
  sim.world.quotas["team"] = gpu_quota(8, 0);
  add_job(sim.world, "a", 1);
  add_job(sim.world, "b", 1);
  sim.round();
  sim.round();
  EXPECT_TRUE(sim.job("a").status.placement);
  EXPECT_EQ(sim.job("b").status.reason, "QuotaExceeded") << "in the round that places a";
  sim.round();
  EXPECT_EQ(sim.pods("a").size(), 1U);
  EXPECT_EQ(sim.job("b").status.reason, "QuotaExceeded") << "while a's pod is not made";
}

TEST(Story, AClassThatMayPreemptIsRefusedByName) {
  Simulation sim(cluster(1, 2));
  sim.world.classes["verl-job"].may_preempt = true;
  add_job(sim.world, "a", 1);
  sim.settle();
  EXPECT_EQ(sim.job("a").status.reason, "PriorityClassMayPreempt");
  EXPECT_THAT(condition(sim.job("a").status, "Ready").message, StartsWith("spec.priorityClassName: verl-job has preemptionPolicy PreemptLowerPriority, wants Never"));
  sim.world.classes.erase("verl-job");
  sim.settle();
  EXPECT_EQ(sim.job("a").status.reason, "PriorityClassNotFound");
}

TEST(Story, AJobWaitsInTheQueueForNoLongerThanItsDeadline) {
  Simulation sim(cluster(1, 1));
  add_job(sim.world, "a", 2).spec.deadlines.queued = Seconds{600};
  sim.settle();
  sim.advance(Seconds{599});
  sim.settle();
  EXPECT_EQ(sim.job("a").status.phase, "Queued");
  sim.advance(Seconds{1});
  sim.settle();
  EXPECT_EQ(sim.job("a").status.reason, "QueuedDeadline");
  EXPECT_EQ(condition(sim.job("a").status, "Ready").message, "it could not be started within 600 s; last reason: ShortOfNodes");
}

TEST(Story, HalvesOfANodeGoToTwoJobsThoughADaemonTookACore) {
  Simulation sim(cluster(1, 1));
  add_stranger(sim.world, "daemon", "n00", {{"cpu", 1500}});
  add_job(sim.world, "a", 1, 4);
  add_job(sim.world, "b", 1, 4);
  sim.run("a");
  sim.run("b");
  EXPECT_EQ(sim.pod("a-1-0").requests["cpu"], 32'000);
  EXPECT_EQ(sim.pod("b-1-0").requests["cpu"], 30'000);
}

TEST(Story, APortOfASidecarIsAHostPort) {
  Simulation sim(cluster(1, 2));
  sim.world.config.port_first = 20000;
  sim.world.config.port_last = 20063;
  api::Pod& exporter = add_stranger(sim.world, "exporter", "n00", {});
  exporter.host_ports = {{.ip = "", .protocol = "TCP", .port = 9400}};
  add_job(sim.world, "a", 1).spec.pools[0].template_json =
      R"({"spec":{"containers":[{"name":"metrics","image":"x","ports":[{"containerPort":9400},{"containerPort":20001}]}]}})";
  sim.settle();
  EXPECT_THAT(nodes_of(sim.job("a")), ElementsAre("n01"));
  EXPECT_EQ(sim.job("a").status.placement->port_base, 20016);
}

TEST(Story, MemoryThatNobodyDeclaredIsNotGuessed) {
  Simulation sim(cluster(1, 1));
  sim.world.policies["p"].spec.memory_per_gpu.reset();
  add_job(sim.world, "a", 1);
  sim.settle();
  EXPECT_FALSE(sim.job("a").status.placement);
  EXPECT_EQ(sim.job("a").status.phase, "Failed");
  EXPECT_EQ(condition(sim.job("a").status, "Stalled").reason, "MemoryUnknown");
  EXPECT_THAT(condition(sim.job("a").status, "Stalled").message, HasSubstr("spec.pools[0].template"));
  sim.world.policies["p"].spec.memory_per_gpu = Bytes{100 * kGiB.count};
  sim.settle();
  EXPECT_TRUE(sim.job("a").status.placement) << "what the policy says now is enough";
}

TEST(Story, SmallJobsShareTheRdmaDevicesOfANode) {
  Simulation sim(cluster(1, 1));
  api::ReadinessPolicy& policy = sim.world.policies["p"];
  policy.spec.rdma_resource = "rdma/hca";
  policy.spec.expectations.inventory.rdma_devices = 4;
  sim.world.nodes["n00"].allocatable["rdma/hca"] = 4000;
  sim.world.reports["n00"] = passing_report(sim.world, sim.world.nodes["n00"]);
  for (const char* name : {"a", "b"}) add_job(sim.world, name, 1, 3);  // 3 of 8 GPUs: 1.5 of 4 devices, rounded up
  sim.settle();
  for (const char* name : {"a-1-0", "b-1-0"}) {
    EXPECT_EQ(sim.pod(name).requests.at("rdma/hca"), 2000) << name;
  }
}

TEST(Story, APodThatNoNodeCouldEverTakeIsSaidToBeSo) {
  Simulation sim(cluster(1, 2));
  add_job(sim.world, "a", 1, 16);
  add_job(sim.world, "b", 1).spec.pools[0].template_json = R"({"spec":{"containers":[{"name":"ray","resources":{"limits":{"memory":"100Ti"}}}]}})";
  sim.settle();
  EXPECT_EQ(sim.job("a").status.reason, "NoNodeLargeEnough");
  EXPECT_THAT(condition(sim.job("a").status, "Ready").message, StartsWith("a pod of pool main asks for 16 of nvidia.com/gpu, and the largest node has 8 in all."));
  EXPECT_EQ(sim.job("b").status.reason, "NoNodeLargeEnough");
}

TEST(Story, AMissingVolumeClaimCostsNeitherRestartsNorNodes) {
  constexpr const char* kWords = R"(0/2 nodes are available: persistentvolumeclaim "data" not found.)";
  Simulation sim = placed(1, 2, 1);
  sim.settle();
  const auto unschedulable = [&] {
    for (api::Pod* pod : sim.pods("a")) {
      pod->conditions = {{.type = "PodScheduled", .status = api::ConditionStatus::False, .reason = "Unschedulable", .message = kWords}};
    }
    sim.settle();
  };
  unschedulable();
  EXPECT_EQ(sim.job("a").status.reason, "Binding");
  EXPECT_THAT(condition(sim.job("a").status, "Ready").message, HasSubstr(kWords)) << "the scheduler's words are shown at once";
  sim.advance(Seconds{60});
  unschedulable();
  sim.remove_deleted();
  sim.settle();
  EXPECT_EQ(sim.job("a").status.reason, "VolumeClaimNotBound");
  EXPECT_THAT(condition(sim.job("a").status, "Ready").message, HasSubstr(kWords));
  EXPECT_EQ(sim.job("a").status.attempts.infrastructure_restarts, 0);
  EXPECT_THAT(sim.job("a").status.rejected_nodes, IsEmpty());
  EXPECT_FALSE(sim.job("a").status.placement) << "it waits without holding nodes";
  sim.advance(Seconds{59});
  sim.settle();
  EXPECT_FALSE(sim.job("a").status.placement);
  sim.advance(Seconds{1});
  sim.settle();
  EXPECT_TRUE(sim.job("a").status.placement);

  // Each pause is as long as it has been tried so far, unless the spec changes; the queued deadline counts on.
  sim.advance(Seconds{60});
  unschedulable();
  sim.remove_deleted();
  sim.advance(Seconds{150});
  sim.settle();
  EXPECT_FALSE(sim.job("a").status.placement);
  ++sim.job("a").meta.generation;
  sim.settle();
  EXPECT_TRUE(sim.job("a").status.placement);
  EXPECT_EQ(sim.job("a").status.queued_at, kStart);
}

TEST(Story, AClaimDoesNotHideANodeThatRefused) {
  Simulation sim = placed(1, 4, 2);
  sim.settle();
  sim.pod("a-1-0").conditions = {{.type = "PodScheduled", .status = api::ConditionStatus::False, .message = R"(persistentvolumeclaim "data" not found)"}};
  sim.pod("a-1-1").conditions = {{.type = "PodScheduled", .status = api::ConditionStatus::False, .message = "1 node(s) had untolerated taint"}};
  sim.advance(Seconds{60});
  sim.settle();
  EXPECT_EQ(sim.job("a").status.attempts.last_reason, "NotBound");
  ASSERT_EQ(sim.job("a").status.rejected_nodes.size(), 1U);
  EXPECT_EQ(sim.job("a").status.rejected_nodes[0].node, "n01");
}

TEST(Story, AStrangersPodInMidGangCostsNoRestart) {
  Simulation sim = placed(1, 2, 2);
  sim.job("a").spec.recovery.infrastructure_restarts = 0;
  sim.round();
  sim.world.pods.erase("rl/a-1-1");
  sim.world.dry_runs["job-a"] = {{.job_generation = 1, .asked = sim.world.now, .refusal_reason = "PodNameTaken", .refusal_message = "pod rl/a-1-1 is a stranger's"}};
  sim.round();
  EXPECT_FALSE(sim.job("a").status.placement);
  EXPECT_NE(sim.job("a").status.phase, "Failed");
  EXPECT_EQ(sim.job("a").status.attempts.infrastructure_restarts, 0);
}

TEST(Story, ALevelThatNoNodeIsLabelledWithCastsNoDoubt) {
  Simulation sim(cluster(1, 2));
  sim.world.config.levels = {{.name = "zone", .key = "zone"}, {.name = "rack", .key = "rack"}};
  add_job(sim.world, "a", 2);
  sim.settle();
  ASSERT_TRUE(sim.job("a").status.placement);
  EXPECT_TRUE(sim.job("a").status.placement->racks_proven);
}

TEST(Story, AnotherManagersJobIsLeftAlone) {
  Simulation sim(cluster(1, 1));
  add_job(sim.world, "a", 1).spec.managed_by = "kueue.x-k8s.io/multikueue";
  EXPECT_THAT(sim.round(), IsEmpty());
}

}  // namespace
}  // namespace verl::core::testing
