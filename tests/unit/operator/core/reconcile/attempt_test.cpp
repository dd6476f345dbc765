// How an attempt ends: what the pods say against what the operator concludes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "builders.h"
#include "operator/core/attempt.h"
#include "operator/core/conditions.h"
#include "operator/core/reason.h"
#include "operator/core/rejection.h"

namespace verl::core::testing {
namespace {

using ::testing::HasSubstr;

std::string word(AttemptState state) {
  switch (state) {
    case AttemptState::Creating: return "Creating";
    case AttemptState::Starting: return "Starting";
    case AttemptState::Running: return "Running";
    case AttemptState::Ending: return "Ending";
    case AttemptState::Succeeded: return "Succeeded";
    case AttemptState::FailedByUser: return "FailedByUser";
    case AttemptState::FailedByUs: return "FailedByUs";
    case AttemptState::Waits: return "waits";
    case AttemptState::Refused: return "Refused";
  }
  return "?";
}

AttemptVerdict judged(Simulation& sim, const std::string& name = "a") {
  const ClusterSnapshot now = snapshot(sim.world);
  const api::VerlJob& job = sim.job(name);
  std::vector<const api::Pod*> pods;
  for (const auto& pod : now.pods) {
    if (pod->owner_uid == job.meta.uid) pods.push_back(pod.get());
  }
  return judge_attempt({.snapshot = now, .job = job, .pods = pods, .all_seen = is_true(job.status, "PodsCreated")});
}

std::string line(const AttemptVerdict& verdict) {
  std::string rejected;
  for (const NodeFault& fault : verdict.rejected) rejected += fmt::format(" -{}:{}", fault.node, fault.reason);
  return fmt::format("{} {}{}", word(verdict.state), verdict.reason, rejected);
}

// A job of two nodes whose pods were made, and whose trainer runs where asked for.
Simulation gang(bool trains) {
  Simulation sim(cluster(1, 4));
  add_job(sim.world, "a", 2);
  sim.settle();
  sim.bind();
  sim.start();
  sim.settle();
  if (trains) {
    sim.pass_gate("a");
    sim.settle();
  }
  return sim;
}

struct Case {
  const char* what;
  std::function<void(Simulation&)> spoil;
  const char* verdict;
};

void expect_all(const std::vector<Case>& cases, bool trains) {
  for (const Case& one : cases) {
    Simulation sim = gang(trains);
    one.spoil(sim);
    EXPECT_EQ(line(judged(sim)), one.verdict) << one.what;
  }
}

void driver(Simulation& sim, std::int32_t code, const std::string& message) { sim.end_driver("a", code, message); }

std::string gate(const std::string& reason, const std::string& message = "m") {
  return fmt::format(R"({{"verl.run/gate": "{}", "message": "{}"}})", reason, message);
}

TEST(Attempt, TheWordOfTheGateDecidesWhatAnExitCodeMeans) {
  expect_all(
      {
          {"passed, 0", [](Simulation& s) { driver(s, 0, kPassed); }, "Succeeded Succeeded"},
          {"passed, 1", [](Simulation& s) { driver(s, 1, kPassed); }, "FailedByUser TrainerFailed"},
          {"passed, 201: the trainer's own code", [](Simulation& s) { driver(s, 201, kPassed); }, "FailedByUser TrainerFailed"},
          {"passed, out of memory",
           [](Simulation& s) {
             driver(s, 137, kPassed);
             s.pod("a-1-0").containers[1].terminated_reason = "OOMKilled";
           },
           "FailedByUser TrainerOutOfMemory"},
          {"no message, 0", [](Simulation& s) { driver(s, 0, ""); }, "FailedByUs DriverEndedEarly"},
          {"no message, 1", [](Simulation& s) { driver(s, 1, ""); }, "FailedByUs DriverEndedEarly"},
          {"garbage", [](Simulation& s) { driver(s, 0, "Passed"); }, "FailedByUs DriverEndedEarly"},
          {"broken JSON", [](Simulation& s) { driver(s, 0, "{\"verl.run/gate\": \"Passed\""); }, "FailedByUs DriverEndedEarly"},
          {"a list", [](Simulation& s) { driver(s, 0, "[\"Passed\"]"); }, "FailedByUs DriverEndedEarly"},
          {"a number as reason", [](Simulation& s) { driver(s, 0, R"({"verl.run/gate": 1})"); }, "FailedByUs DriverEndedEarly"},
          {"an invented reason", [](Simulation& s) { driver(s, 0, gate("all good!")); }, "FailedByUs DriverEndedEarly"},
          {"another's message", [](Simulation& s) { driver(s, 0, R"({"verl.run/ray": "Passed"})"); }, "FailedByUs DriverEndedEarly"},
          {"huge", [](Simulation& s) { driver(s, 0, std::string(1 << 20, '[')); }, "FailedByUs DriverEndedEarly"},
          {"huge and right", [](Simulation& s) { driver(s, 0, gate("Passed", std::string(1 << 20, 'x'))); }, "FailedByUs DriverEndedEarly"},
          {"not UTF-8", [](Simulation& s) { driver(s, 0, "{\"verl.run/gate\": \"Pass\xff\"}"); }, "FailedByUs DriverEndedEarly"},
          {"unauthenticated", [](Simulation& s) { driver(s, 200, gate("RayUnauthenticated")); }, "Refused RayUnauthenticated"},
          {"missing", [](Simulation& s) { driver(s, 201, gate("NodesMissing", "after 20 s: 1 of 2 nodes ready; not in Ray: rank 1 n01 (10.0.0.1)")); },
           "FailedByUs NodesMissing -n01:NotInRay"},
          {"unreachable", [](Simulation& s) { driver(s, 202, gate("RayUnreachable")); }, "FailedByUs RayUnreachable"},
          {"misconfigured", [](Simulation& s) { driver(s, 203, gate("GateMisconfigured")); }, "Refused GateMisconfigured"},
          {"rejected token", [](Simulation& s) { driver(s, 204, gate("RayTokenRejected")); }, "Refused RayTokenRejected"},
          {"no program", [](Simulation& s) { driver(s, 205, gate("TrainerNotExecutable")); }, "Refused TrainerNotExecutable"},
          {"interrupted", [](Simulation& s) { driver(s, 206, gate("Interrupted")); }, "FailedByUs Interrupted"},
      },
      true);
}

TEST(Attempt, SuccessStandsWhateverBecomesOfPodsAndNodes) {
  Simulation sim = gang(true);
  driver(sim, 0, kPassed);
  sim.world.nodes.erase("n00");
  sim.world.pods.erase("rl/a-1-1");
  sim.pod("a-1-0").meta.deleted = sim.world.now + Seconds{30};  // asked for now, with a grace of 30 s
  EXPECT_EQ(line(judged(sim)), "Succeeded Succeeded");
}

TEST(Attempt, ATrainerThatWasToldToStopAndEndsWithZeroHasNotSucceeded) {
  Simulation deleted = gang(true);
  driver(deleted, 0, kPassed);
  deleted.pod("a-1-0").meta.deleted = deleted.world.now + Seconds{10};  // asked for 20 s before the trainer ended
  EXPECT_EQ(line(judged(deleted)), "FailedByUs HeadDisrupted -n00:PodDisrupted");

  Simulation evicted = gang(true);
  driver(evicted, 0, kPassed);
  evicted.pod("a-1-0").conditions = {{.type = "DisruptionTarget", .status = api::ConditionStatus::True, .reason = "EvictionByEvictionAPI",
                                      .last_transition = evicted.world.now - Seconds{300}}};
  EXPECT_EQ(line(judged(evicted)), "FailedByUs HeadDisrupted -n00:PodDisrupted");
}

TEST(Attempt, TheTrainerIsBlamedOnlyOnceItsNodesWereHeardOfAfterItsEnd) {
  Simulation sim = gang(true);
  sim.end_driver("a", 1, kPassed);  // 10 s ago
  EXPECT_EQ(line(judged(sim)), "FailedByUser TrainerFailed") << "all were heard of 5 s ago";
  sim.world.ages["n01"] = Seconds{10};
  EXPECT_EQ(line(judged(sim)), "Ending TrainerEnded");
  EXPECT_EQ(judged(sim).next_deadline, sim.world.now + Seconds{5});
  sim.settle();
  EXPECT_EQ(sim.job("a").status.phase, "Running");
  EXPECT_EQ(condition(sim.job("a").status, "Ready").status, api::ConditionStatus::False);
  Simulation died = sim;
  died.world.nodes["n01"].ready = api::ConditionStatus::Unknown;
  died.world.nodes["n01"].taints.push_back({.key = "node.kubernetes.io/unreachable", .value = "", .effect = "NoExecute"});
  EXPECT_EQ(line(judged(died)), "FailedByUs NodeLost -n01:NodeLost");
  Simulation lived = sim;
  lived.world.ages["n01"] = Seconds{9};
  EXPECT_EQ(line(judged(lived)), "FailedByUser TrainerFailed");
  Simulation silent = sim;
  silent.world.ages.erase("n01");
  silent.advance(Seconds{49});
  EXPECT_EQ(line(judged(silent)), "Ending TrainerEnded");
  silent.advance(Seconds{1});
  EXPECT_EQ(line(judged(silent)), "FailedByUser TrainerFailed");
  Simulation wrong_clock = sim;
  wrong_clock.pod("a-1-0").containers[1].finished_at = sim.world.now + Seconds{3600};
  EXPECT_EQ(line(judged(wrong_clock)), "FailedByUser TrainerFailed");
}

TEST(Attempt, WhatOthersEndIsNotTheTrainersFault) {
  const auto disrupted = [](api::Pod& pod) {
    pod.conditions = {{.type = "DisruptionTarget", .status = api::ConditionStatus::True, .reason = "EvictionByEvictionAPI", .message = "drain"}};
  };
  expect_all(
      {
          {"the head is evicted", [&](Simulation& s) { driver(s, 1, kPassed); disrupted(s.pod("a-1-0")); }, "FailedByUs HeadDisrupted -n00:PodDisrupted"},
          {"the head is deleted", [](Simulation& s) { driver(s, 1, kPassed); s.pod("a-1-0").meta.deleted = s.world.now; }, "FailedByUs HeadDisrupted -n00:PodDisrupted"},
          {"a worker is evicted first", [&](Simulation& s) { driver(s, 1, kPassed); disrupted(s.pod("a-1-1")); }, "FailedByUs PodDisrupted -n01:PodDisrupted"},
          {"a worker is being deleted", [](Simulation& s) { driver(s, 1, kPassed); s.pod("a-1-1").meta.deleted = s.world.now; }, "FailedByUs PodDisrupted -n01:PodDisrupted"},
          {"a worker is gone", [](Simulation& s) { driver(s, 1, kPassed); s.world.pods.erase("rl/a-1-1"); }, "FailedByUs RayEnded -n01:RayEnded"},
          {"a worker's Ray ended first",
           [](Simulation& s) { driver(s, 1, kPassed); s.pod("a-1-1").containers[0] = ended("ray", 137, "", s.world.now - Seconds{15}); }, "FailedByUs RayEnded -n01:RayEnded"},
          {"a worker's Ray ended after the driver",
           [](Simulation& s) { driver(s, 1, kPassed); s.pod("a-1-1").containers[0] = ended("ray", 1, "", s.world.now + Seconds{5}); }, "FailedByUser TrainerFailed"},
          {"a worker's node rebooted", [](Simulation& s) { driver(s, 1, kPassed); s.world.nodes["n01"].boot_id = "x"; }, "FailedByUs NodeLost -n01:NodeLost"},
          {"a node is gone", [](Simulation& s) { s.world.nodes.erase("n01"); }, "FailedByUs NodeLost -n01:NodeLost"},
          {"a node is unreachable",
           [](Simulation& s) {
             s.world.nodes["n01"].ready = api::ConditionStatus::Unknown;
             s.world.nodes["n01"].taints.push_back({.key = "node.kubernetes.io/unreachable", .value = "", .effect = "NoExecute"});
           },
           "FailedByUs NodeLost -n01:NodeLost"},
          {"a cordon touches nothing", [](Simulation& s) { s.world.nodes["n01"].unschedulable = true; }, "Running Running"},
          {"a node that is not ready for a moment", [](Simulation& s) { s.world.nodes["n01"].ready = api::ConditionStatus::False; }, "Running Running"},
          {"a report that turns bad", [](Simulation& s) { s.world.reports["n01"].status.findings[0].verdict = Verdict::Fail; }, "Running Running"},
          {"the head vanished", [](Simulation& s) { s.world.pods.erase("rl/a-1-0"); }, "FailedByUs PodVanished -n00:PodVanished"},
          {"somebody deletes a worker", [](Simulation& s) { s.pod("a-1-1").meta.deleted = s.world.now; }, "FailedByUs PodDeleted -n01:PodDeleted"},
          {"a worker is shut down with its node", [](Simulation& s) { s.pod("a-1-1").phase = "Failed"; s.pod("a-1-1").reason = "Terminated"; }, "FailedByUs Terminated -n01:Terminated"},
          {"Ray of a worker ends", [](Simulation& s) { s.pod("a-1-1").containers[0] = ended("ray", 1, "", s.world.now); }, "FailedByUs RayEnded -n01:RayEnded"},
          {"Ray of the head ends", [](Simulation& s) { s.pod("a-1-0").containers[0] = ended("ray", 0, "", s.world.now); }, "FailedByUs RayEnded -n00:RayEnded"},
      },
      true);
}

TEST(Attempt, BoundIsNotStarted) {
  const auto unstarted = [](Simulation& s, const char* reason) {
    s.pod("a-1-1").phase = "Pending";
    s.pod("a-1-1").containers = {{.name = "ray", .waiting_reason = reason, .waiting_message = "why"}};
  };
  const auto failed = [](Simulation& s, const char* reason) {
    s.pod("a-1-1").phase = "Failed";
    s.pod("a-1-1").reason = reason;
    s.pod("a-1-1").containers.clear();
  };
  expect_all(
      {
          {"the gate waits", [](Simulation&) {}, "Starting RayStarting"},
          {"the kubelet refuses GPUs", [&](Simulation& s) { failed(s, "UnexpectedAdmissionError"); }, "FailedByUs UnexpectedAdmissionError -n01:UnexpectedAdmissionError"},
          {"the kubelet refuses NUMA", [&](Simulation& s) { failed(s, "TopologyAffinityError"); }, "FailedByUs TopologyAffinityError -n01:TopologyAffinityError"},
          {"the kubelet has no GPU left", [&](Simulation& s) { failed(s, "OutOfnvidia.com/gpu"); }, "FailedByUs OutOfnvidiacomgpu -n01:OutOfnvidiacomgpu"},
          {"an odd word", [&](Simulation& s) { failed(s, "../*"); }, "FailedByUs PodFailed -n01:PodFailed"},
          {"an init container fails",
           [](Simulation& s) {
             s.pod("a-1-1").phase = "Failed";
             s.pod("a-1-1").containers = {ended("fetch", 1, "", s.world.now), {.name = "ray", .waiting_reason = "PodInitializing"}};
             s.pod("a-1-1").containers[0].init = true;
           },
           "FailedByUs PodFailed -n01:PodFailed"},
          {"no such image yet", [&](Simulation& s) { unstarted(s, "ImagePullBackOff"); }, "Starting PodsStarting"},
          {"no such image for half an hour", [&](Simulation& s) { unstarted(s, "ImagePullBackOff"); s.advance(Seconds{1800}); }, "FailedByUs ImagePullDeadline -n01:ImagePullBackOff"},
          {"no such image, a second before", [&](Simulation& s) { unstarted(s, "ErrImagePull"); s.advance(Seconds{1799}); }, "Starting PodsStarting"},
          {"a mount that hangs", [&](Simulation& s) { unstarted(s, "ContainerCreating"); s.advance(Seconds{1800}); }, "FailedByUs NotStarted -n01:ContainerCreating"},
          {"an image name that is none", [&](Simulation& s) { unstarted(s, "InvalidImageName"); }, "Refused InvalidImageName"},
          {"Ray does not become whole", [](Simulation& s) { s.advance(Seconds{600}); }, "FailedByUs StartingDeadline"},
          {"a worker does not join",
           [](Simulation& s) { s.pod("a-1-1").containers[0].ready = false; s.advance(Seconds{600}); }, "FailedByUs StartingDeadline -n01:NotInRay"},
          {"the head does not come up, so nobody joins",
           [](Simulation& s) { for (const char* pod : {"a-1-0", "a-1-1"}) s.pod(pod).containers[0].ready = false; s.advance(Seconds{600}); },
           "FailedByUs StartingDeadline -n00:NotInRay"},
          {"Ray has a second left", [](Simulation& s) { s.advance(Seconds{599}); }, "Starting RayStarting"},
          {"a worker finds no head",
           [](Simulation& s) { s.pod("a-1-1").containers[0] = ended("ray", 212, R"({"verl.run/ray": "HeadUnreachable", "message": "no head"})", s.world.now); },
           "FailedByUs HeadUnreachable -n01:HeadUnreachable"},
          {"a container that its check finds unfit",
           [](Simulation& s) { s.pod("a-1-1").containers[0] = ended("ray", 211, R"({"verl.run/ray": "ContainerUnfit", "message": "/dev/shm has 64 MiB"})", s.world.now); },
           "FailedByUs ContainerUnfit -n01:ContainerUnfit"},
          {"an image without Ray",
           [](Simulation& s) { s.pod("a-1-0").containers[0] = ended("ray", 213, R"({"verl.run/ray": "NodeMisconfigured", "message": "no program ray"})", s.world.now); },
           "Refused NodeMisconfigured -n00:NodeMisconfigured"},
          {"a lying message",
           [](Simulation& s) { s.pod("a-1-0").containers[0] = ended("ray", 1, R"({"verl.run/ray": "x y", "message": "m"})", s.world.now); }, "FailedByUs RayEnded -n00:RayEnded"},
      },
      false);
}

TEST(Attempt, TheStartingDeadlineNamesTheNodesThatDidNotJoin) {
  Simulation sim(cluster(1, 2));
  add_job(sim.world, "a", 2);
  sim.settle();
  sim.bind();
  sim.start();
  sim.pod("a-1-1").containers[0].ready = false;
  EXPECT_EQ(judged(sim).message, "waits for Ray on rank 1 on n01");
  sim.advance(Seconds{600});
  EXPECT_EQ(judged(sim).message, "the Ray cluster was not whole 600 s after the last container started: rank 1 on n01 did not join");
}

TEST(Attempt, APodThatIsNotBoundInTimeNamesTheSchedulersReason) {
  Simulation sim(cluster(1, 4));
  add_job(sim.world, "a", 2);
  sim.settle();
  sim.bind();
  sim.pod("a-1-1").node_name.clear();
  sim.pod("a-1-1").conditions = {{.type = "PodScheduled", .status = api::ConditionStatus::False, .reason = "Unschedulable", .message = "0/4 nodes: insufficient\x1b[2J"}};
  sim.advance(Seconds{59});
  EXPECT_EQ(line(judged(sim)), "Starting Binding");
  EXPECT_EQ(judged(sim).next_deadline, sim.world.now + Seconds{1});
  sim.advance(Seconds{1});
  EXPECT_EQ(line(judged(sim)), "FailedByUs NotBound -n01:NotBound");
  EXPECT_THAT(judged(sim).message, HasSubstr("pod a-1-1 on n01 was not bound within 60 s: 0/4 nodes: insufficient\\x1b[2J"));
  sim.settle();
  EXPECT_EQ(sim.job("a").status.rejected_nodes.size(), 1U);
  sim.remove_deleted();
  sim.settle();
  ASSERT_TRUE(sim.job("a").status.placement);
  EXPECT_EQ(sim.job("a").status.placement->ranks[1].node, "n02");
}

TEST(Attempt, ARunningJobIsNotJudgedByTheDeadlinesOfStarting) {
  Simulation sim = gang(true);
  sim.pod("a-1-0").containers[1].ready = false;  // a probe that timed out on a busy node
  sim.pod("a-1-1").containers.push_back({.name = "exporter", .waiting_reason = "CrashLoopBackOff"});
  sim.advance(Seconds{86400});
  EXPECT_EQ(line(judged(sim)), "Running Running");
  sim.pod("a-1-0").containers.clear();
  EXPECT_EQ(line(judged(sim)), "Running Running");
}

TEST(Attempt, ARunHasADeadlineOfItsOwn) {
  Simulation sim = gang(true);
  sim.job("a").spec.deadlines.running = Seconds{100};
  sim.advance(Seconds{99});
  EXPECT_EQ(line(judged(sim)), "Running Running");
  sim.advance(Seconds{1});
  EXPECT_EQ(line(judged(sim)), "Refused RunningDeadline");
}

TEST(Attempt, APlacementThatMakesNoSenseEndsTheAttempt) {
  const std::vector<std::function<void(api::Placement&)>> faults{
      [](api::Placement& p) { p.ranks.clear(); },
      [](api::Placement& p) { std::swap(p.ranks[0], p.ranks[1]); },
      [](api::Placement& p) { p.ranks[1].rank = -7; },
      [](api::Placement& p) { p.ranks[1].rank = 1 << 30; },
      [](api::Placement& p) { p.ranks[1].node = p.ranks[0].node; },
      [](api::Placement& p) { p.port_base = std::numeric_limits<std::int32_t>::max(); },
  };
  for (size_t i = 0; i < faults.size(); ++i) {
    Simulation sim = gang(true);
    faults[i](*sim.job("a").status.placement);
    EXPECT_EQ(line(judged(sim)), "FailedByUs PlacementMalformed") << i;
  }
}

// ---- what is remembered

TEST(Rejection, ANodeIsLeftOutForTwiceAsLongEachTimeUpToHalfAnHour) {
  std::vector<api::RejectedNode> nodes;
  Timestamp now = kStart;
  std::vector<std::int64_t> waits;
  for (int i = 0; i < 8; ++i) {
    nodes = reject(nodes, {{"n1", "NotBound"}}, now);
    waits.push_back(std::chrono::duration_cast<Seconds>(nodes[0].until - now).count());
    now = nodes[0].until;
  }
  EXPECT_EQ(waits, (std::vector<std::int64_t>{60, 120, 240, 480, 960, 1800, 1800, 1800}));
}

TEST(Rejection, TheListNeverGrowsBeyondItsBound) {
  std::vector<api::RejectedNode> nodes;
  std::vector<NodeFault> faults;
  for (int i = 0; i < 200; ++i) faults.push_back({fmt::format("n{:03}", i), "NodeLost"});
  nodes = reject(nodes, faults, kStart);
  EXPECT_EQ(nodes.size(), kMaxRejectedNodes);
  EXPECT_TRUE(std::is_sorted(nodes.begin(), nodes.end(), [](const auto& a, const auto& b) { return a.node < b.node; }));
  EXPECT_TRUE(still_rejected(nodes, kStart + Seconds{60 + 1801}).empty());
  EXPECT_EQ(still_rejected(nodes, kStart + Seconds{60 + 1800}).size(), kMaxRejectedNodes);
}

TEST(Reason, OnlyLettersAndDigitsReachACondition) {
  EXPECT_EQ(as_reason("OutOfnvidia.com/gpu", "x"), "OutOfnvidiacomgpu");
  EXPECT_EQ(as_reason("imagePull", "x"), "ImagePull");
  EXPECT_EQ(as_reason("9 lives", "x"), "Lives");
  EXPECT_EQ(as_reason("\x1b[2J", "x"), "J");
  EXPECT_EQ(as_reason("", "Other"), "Other");
  EXPECT_EQ(as_reason("123", "Other"), "Other");
  EXPECT_EQ(as_reason(std::string(1000, 'a'), "x").size(), 128U);
}

}  // namespace
}  // namespace verl::core::testing
