// What the executor asks of the apiserver for a plan, and what each answer becomes.
#include "operator/controller/executor.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "builders.h"
#include "fake_cluster.h"

namespace verl::controller {
namespace {

using nlohmann::json;
using testing::CacheBench;
using testing::FakeCluster;
using testing::line_of;
using testing::refusal;
using Lines = std::vector<std::string>;

constexpr Timestamp kNow{Seconds{1'796'000'000}};

api::VerlJob a_job() {
  api::VerlJob job{};
  job.meta = {.name_space = "rl", .name = "qwen", .uid = "job-uid", .resource_version = "5", .generation = 2};
  return job;
}

std::string written(const std::string& name, const std::string& version, const std::string& owner = "job-uid") {
  return R"({"kind":"Pod","metadata":{"namespace":"rl","name":")" + name + R"(","uid":"uid-)" + name + R"(","resourceVersion":")" + version +
         R"(","ownerReferences":[{"kind":"VerlJob","name":"qwen","uid":")" + owner + R"("}]}})";
}

struct Bench {
  CacheBench caches{};
  FakeCluster event_server{};
  std::mutex mutex{};
  std::vector<std::string> log{};
  bool leader{true};
  const TokenKey key{TokenKey::from_text(std::string(32, 'k')).value()};
  kube::EventRecorder events{event_server, caches.clock, {.controller = "verl.run/operator", .instance = "i"}};
  Executor executor;

  explicit Bench(int parallel = 1)
      : executor({.api = caches.cluster, .caches = caches.caches, .events = events, .key = key, .may_write = [this] { return leader; },
                  .log =
                      [this](std::string_view line) {
                        const std::lock_guard lock(mutex);
                        log.emplace_back(line);
                      },
                  .name_space = "verl-system", .parallel_creates = parallel}) {
    event_server.answer([](const kube::Request& request) { return kube::Reply{.status = 201, .body = request.body}; });
    executor.set_now(kNow);
  }

  FakeCluster& cluster() { return caches.cluster; }
  Written run(const core::Plan& plan, const api::VerlJob& job = a_job()) { return executor.run(plan, job, {}); }
  std::vector<core::DryRun> kept(const api::VerlJob& job = a_job()) {
    core::ClusterSnapshot snapshot{};
    snapshot.jobs = {std::make_shared<const api::VerlJob>(job)};
    const auto all = executor.dry_runs(snapshot);
    const auto found = all.find(job.meta.uid);
    return found == all.end() ? std::vector<core::DryRun>{} : found->second;
  }
  std::set<kube::ObjectKey> pods_waited_for() { return caches.caches.pods().snapshot().behind(); }
  std::set<kube::ObjectKey> jobs_waited_for() { return caches.caches.jobs().snapshot().behind(); }
  std::uint64_t events_told() { return events.counts().told; }
};

core::Plan plan_of(std::vector<core::Action> actions, bool with_status = true) {
  core::Plan plan{.name_space = "rl", .job = "qwen", .job_uid = "job-uid", .actions = std::move(actions)};
  plan.actions.emplace_back(core::EmitEvent{.reason = "Starting", .action = "Starting", .note = "n"});
  if (with_status) plan.status = api::VerlJobStatus{.phase = "Starting"};
  return plan;
}

core::CreatePods three_pods() { return {.pods = {{"qwen-1-0", "{}"}, {"qwen-1-1", "{}"}, {"qwen-1-2", "{}"}}}; }

const std::string kPods = "/api/v1/namespaces/rl/pods";
const std::string kStatus = "PATCH /apis/verl.run/v1alpha1/namespaces/rl/verljobs/qwen/status";

TEST(Executor, DoesAllInOrderAndWaitsToSeeItsOwnWrites) {
  Bench bench;
  bench.cluster().answer([](const kube::Request& request) {
    if (request.method == kube::Method::Patch) return kube::Reply{.status = 200, .body = written("qwen", "9")};
    return kube::Reply{.status = 201, .body = written("qwen-1-0", "7")};
  });
  const Written done = bench.run(plan_of({core::CreatePods{.pods = {{"qwen-1-0", "{}"}}}}));
  EXPECT_EQ(bench.cluster().asked(), (Lines{"POST " + kPods, kStatus}));
  EXPECT_EQ(done.writes, 2);
  EXPECT_FALSE(done.failed);
  EXPECT_EQ(bench.pods_waited_for(), (std::set<kube::ObjectKey>{{"rl", "qwen-1-0"}}));
  EXPECT_EQ(bench.jobs_waited_for(), (std::set<kube::ObjectKey>{{"rl", "qwen"}}));
  EXPECT_EQ(bench.events_told(), 1U);
}

TEST(Executor, AConflictEndsTheRoundOfTheJob) {
  Bench bench;
  bench.cluster().answer([](const kube::Request&) { return refusal(409, "Conflict", "the UID in the precondition does not match"); });
  const Written done = bench.run(plan_of({core::DeletePod{.name = "qwen-1-0", .uid = "u", .resource_version = "3"}, core::DeletePod{.name = "qwen-1-1", .uid = "v"}}));
  EXPECT_EQ(bench.cluster().asked(), (Lines{"DELETE " + kPods + "/qwen-1-0"}));
  const json body = json::parse(bench.cluster().requests().at(0).body);
  EXPECT_EQ(body["preconditions"], (json{{"uid", "u"}, {"resourceVersion", "3"}}));
  EXPECT_EQ(done.writes, 0);
  EXPECT_TRUE(done.failed);
  EXPECT_EQ(bench.events_told(), 0U) << "what was not done is not told";
}

TEST(Executor, WhatIsGoneAlreadyIsDone) {
  Bench bench;
  bench.cluster().answer([](const kube::Request& request) {
    return request.method == kube::Method::Delete ? refusal(404, "NotFound", "pods not found", "qwen-1-0") : kube::Reply{.status = 200, .body = written("qwen", "9")};
  });
  EXPECT_FALSE(bench.run(plan_of({core::DeletePod{.name = "qwen-1-0", .uid = "u"}})).failed);
  EXPECT_EQ(bench.cluster().asked().size(), 2U);
  EXPECT_TRUE(bench.log.empty()) << "that is nothing to tell";
}

TEST(Executor, ARefusalInTheMiddleOfAGangEndsTheAttempt) {
  for (const int code : {403, 422, 400}) {
    Bench bench;
    int posts = 0;
    bench.cluster().answer([&](const kube::Request&) {
      return ++posts == 2 ? refusal(code, "Forbidden", "exceeded quota: compute") : kube::Reply{.status = 201, .body = written("qwen-1-0", "7")};
    });
    const Written done = bench.run(plan_of({three_pods()}));
    EXPECT_EQ(bench.cluster().asked(), (Lines(2, "POST " + kPods))) << "the third is not asked for, the status not written";
    EXPECT_TRUE(done.failed);
    ASSERT_EQ(bench.kept().size(), 1U);
    const core::DryRun run = bench.kept()[0];
    EXPECT_EQ(run.refusal_reason, "PodRefused");
    EXPECT_EQ(run.refusal_message, "creating pod rl/qwen-1-1: Forbidden (" + std::to_string(code) + "): exceeded quota: compute");
    EXPECT_EQ(run.job_generation, 2);
    EXPECT_EQ(run.asked, kNow);
    EXPECT_EQ(bench.events_told(), 0U);
  }
}

// What a GET of the taken name answers, and what comes of it.
struct Holder {
  const char* what;
  Result<kube::Reply> answer;
  bool done;
  const char* reason;  // kept for the core; empty: none
};

TEST(Executor, APodThatIsThereAlreadyIsOursOrLeavesOrIsAStrangers) {
  const Holder cases[] = {
      {"ours, its answer was lost", kube::Reply{.status = 200, .body = written("qwen-1-0", "7")}, true, ""},
      {"of an earlier job of this name", kube::Reply{.status = 200, .body = written("qwen-1-0", "7", "uid-before")}, false, ""},
      {"a stranger's", kube::Reply{.status = 200, .body = R"({"kind":"Pod","metadata":{"name":"qwen-1-0","uid":"s","resourceVersion":"1"}})"}, false, "PodNameTaken"},
      {"gone meanwhile", refusal(404, "NotFound", "pods not found", "qwen-1-0"), false, ""},
      {"not to be seen", refusal(403, "Forbidden", "pods is forbidden"), false, ""},
      {"no answer", failure(ErrorCode::Unavailable, "connection refused"), false, ""},
      {"no pod", kube::Reply{.status = 200, .body = "<html>"}, false, ""},
  };
  for (const Holder& one : cases) {
    Bench bench;
    bench.cluster().answer([&](const kube::Request& request) -> Result<kube::Reply> {
      if (request.method == kube::Method::Get) return one.answer;
      if (request.method == kube::Method::Patch) return kube::Reply{.status = 200, .body = written("qwen", "9")};
      return refusal(409, "AlreadyExists", "pods already exists", "qwen-1-0");
    });
    const Written done = bench.run(plan_of({core::CreatePods{.pods = {{"qwen-1-0", "{}"}}}}));
    Lines wanted{"POST " + kPods, "GET " + kPods + "/qwen-1-0"};
    if (one.done) wanted.push_back(kStatus);
    EXPECT_EQ(bench.cluster().asked(), wanted) << one.what;
    EXPECT_EQ(done.failed, !one.done) << one.what;
    EXPECT_EQ(bench.pods_waited_for().size(), one.done ? 1U : 0U) << one.what;
    const auto kept = bench.kept();
    EXPECT_EQ(kept.empty() ? "" : kept[0].refusal_reason, one.reason) << one.what;
  }
}

TEST(Executor, ATakenNameStopsTheRestOfTheGang) {
  Bench bench;
  bench.cluster().answer([](const kube::Request& request) {
    if (request.method == kube::Method::Get) return kube::Reply{.status = 200, .body = R"({"metadata":{"uid":"s"}})"};
    return refusal(409, "AlreadyExists", "pods already exists", "x");
  });
  EXPECT_TRUE(bench.run(plan_of({three_pods()})).failed);
  EXPECT_EQ(bench.cluster().asked(), (Lines{"POST " + kPods, "GET " + kPods + "/qwen-1-0"}));
}

TEST(Executor, ALostAnswerOfACreateRefusesNothing) {
  for (const Result<kube::Reply>& answer : {Result<kube::Reply>(failure(ErrorCode::Unavailable, "reset")), Result<kube::Reply>(kube::Reply{.status = 500}),
                                            Result<kube::Reply>(kube::Reply{.status = 429}), Result<kube::Reply>(refusal(404, "NotFound", "namespaces not found", "rl"))}) {
    Bench bench;
    bench.cluster().answer([&](const kube::Request&) { return answer; });
    EXPECT_TRUE(bench.run(plan_of({three_pods()})).failed);
    EXPECT_EQ(bench.cluster().asked(), (Lines(3, "POST " + kPods))) << "each is tried, no status is written";
    EXPECT_TRUE(bench.kept().empty());
  }
}

TEST(Executor, AllPodsOfAGangAreMadeInParallel) {
  Bench bench(8);
  core::CreatePods gang{};
  for (int i = 0; i < 64; ++i) gang.pods.emplace_back("qwen-1-" + std::to_string(i), R"({"n":)" + std::to_string(i) + "}");
  bench.cluster().answer([](const kube::Request& request) { return kube::Reply{.status = 201, .body = written("qwen-1-" + json::parse(request.body)["n"].dump(), "7")}; });
  const Written done = bench.run(plan_of({gang}, false));
  EXPECT_EQ(done.writes, 64);
  EXPECT_EQ(bench.pods_waited_for().size(), 64U);
}

TEST(Executor, WritesNothingWithoutTheLease) {
  Bench bench;
  bench.leader = false;
  EXPECT_TRUE(bench.run(plan_of({core::DryRunPods{.pods = {{"main", "{}"}}}})).failed);
  EXPECT_TRUE(bench.run(plan_of({three_pods()})).failed);
  EXPECT_TRUE(bench.run(plan_of({})).failed);
  EXPECT_TRUE(bench.executor.run({core::WriteVerdict{.node = "n1"}}, {}, {}).failed);
  EXPECT_EQ(bench.cluster().asked(), Lines{});
  EXPECT_EQ(bench.events_told(), 0U);
}

TEST(Executor, LosingTheLeaseInTheMiddleOfAGangStopsIt) {
  Bench bench;
  bench.cluster().answer([&](const kube::Request&) {
    bench.leader = false;
    return kube::Reply{.status = 201, .body = written("qwen-1-0", "7")};
  });
  EXPECT_TRUE(bench.run(plan_of({three_pods()})).failed);
  EXPECT_EQ(bench.cluster().asked(), (Lines{"POST " + kPods}));
}

TEST(Executor, ADryRunIsKeptForEveryPoolOrForNone) {
  const core::DryRunPods both{.pods = {{"main", R"({"spec":{"containers":[]}})"}, {"rollout", R"({"spec":{"containers":[]}})"}}};
  for (const Result<kube::Reply>& second : {Result<kube::Reply>(failure(ErrorCode::Timeout, "30 s")), Result<kube::Reply>(kube::Reply{.status = 503}),
                                            Result<kube::Reply>(kube::Reply{.status = 429})}) {
    Bench bench;
    int calls = 0;
    bench.cluster().answer([&](const kube::Request& request) -> Result<kube::Reply> { return ++calls == 1 ? kube::Reply{.status = 201, .body = request.body} : second; });
    EXPECT_TRUE(bench.run(plan_of({both})).failed);
    EXPECT_EQ(bench.cluster().asked(), (Lines(2, "POST " + kPods + " dry-run")));
    EXPECT_TRUE(bench.kept().empty()) << "not knowing is no answer";
  }
  Bench bench;
  bench.cluster().answer([](const kube::Request& request) { return kube::Reply{.status = 201, .body = request.body}; });
  EXPECT_FALSE(bench.run(plan_of({both}, false)).failed);
  ASSERT_EQ(bench.kept().size(), 2U);
  EXPECT_EQ(bench.kept()[1].pool, "rollout");
  EXPECT_TRUE(bench.kept()[1].allowed) << bench.kept()[1].refusal_message;
  EXPECT_TRUE(bench.executor.dry_runs({}).empty()) << "of jobs that are gone nothing is kept";
}

TEST(Executor, TheTokenSecretHoldsTheTokenAndMayExist) {
  Bench bench;
  kube::Reply first{.status = 201, .body = "{}"};
  bench.cluster().answer([&](const kube::Request& request) {
    if (request.method == kube::Method::Patch) return kube::Reply{.status = 200, .body = written("qwen", "9")};
    return first;
  });
  const core::CreateSecret secret{.name = "verl-token-job-uid", .manifest = R"({"kind":"Secret"})"};
  EXPECT_FALSE(bench.run(plan_of({secret})).failed);
  const json sent = json::parse(bench.cluster().requests().at(0).body);
  EXPECT_EQ(sent["data"]["auth_token"].get<std::string>().size(), 88U) << "64 hexadecimal digits in base64";
  first = refusal(409, "AlreadyExists", "secrets already exists");
  EXPECT_FALSE(bench.run(plan_of({secret})).failed);
  EXPECT_TRUE(bench.log.empty());
  first = refusal(403, "Forbidden", "secrets is forbidden");
  EXPECT_TRUE(bench.run(plan_of({secret})).failed);
  ASSERT_EQ(bench.log.size(), 1U);
  EXPECT_EQ(bench.log[0].find(bench.key.token("job-uid")), std::string::npos);
}

TEST(Executor, AFieldThatAnotherManagerLeftInTheStatusIsTakenAway) {
  Bench bench;
  bench.cluster().answer([](const kube::Request& request) {
    if (request.content_type.find("apply") == std::string::npos) return kube::Reply{.status = 200, .body = written("qwen", "11")};
    return kube::Reply{.status = 200, .body = R"({"metadata":{"name":"qwen","uid":"job-uid","resourceVersion":"10"},"status":{"phase":"Queued","placement":{"attempt":1},"exitCode":3}})"};
  });
  EXPECT_FALSE(bench.run(plan_of({})).failed);
  ASSERT_EQ(bench.cluster().asked(), (Lines{kStatus, kStatus}));
  EXPECT_EQ(json::parse(bench.cluster().requests()[1].body), json::parse(R"({"metadata":{"resourceVersion":"10"},"status":{"placement":null,"exitCode":null}})"));
}

TEST(Executor, AStatusWriteWhoseAnswerWasLostHoldsTheJob) {
  Bench bench;
  bench.cluster().answer([](const kube::Request&) -> Result<kube::Reply> { return failure(ErrorCode::Unavailable, "reset"); });
  EXPECT_TRUE(bench.run(plan_of({})).failed);
  EXPECT_EQ(bench.jobs_waited_for(), (std::set<kube::ObjectKey>{{"rl", "qwen"}}));
}

TEST(Executor, AJobIsDeletedAtTheVersionThatWasSeen) {
  Bench bench;
  bench.cluster().answer([](const kube::Request&) { return kube::Reply{.status = 200, .body = "{}"}; });
  EXPECT_FALSE(bench.run(plan_of({core::DeleteJob{.uid = "job-uid", .resource_version = "5"}}, false)).failed);
  const json body = json::parse(bench.cluster().requests().at(0).body);
  EXPECT_EQ(body["preconditions"], (json{{"uid", "job-uid"}, {"resourceVersion", "5"}}));
  EXPECT_EQ(body["propagationPolicy"], "Background");
}

TEST(Executor, AReportThatCannotBeWrittenDoesNotKeepTheOthers) {
  Bench bench;
  bench.cluster().answer([](const kube::Request& request) {
    if (request.path.ends_with("/n1/status")) return refusal(500, "InternalError", "etcd");
    if (request.path.ends_with("/leases")) return refusal(409, "AlreadyExists", "leases already exists");
    if (request.method == kube::Method::Delete) return refusal(409, "Conflict", "another UID");
    if (request.path.find("/leases/") != std::string::npos) return refusal(404, "NotFound", "leases not found", "n4");
    return kube::Reply{.status = 200, .body = written("n", "3")};
  });
  const std::vector<core::ReportAction> actions{core::WriteVerdict{.node = "n1"}, core::WriteVerdict{.node = "n2"}, core::CreateHeartbeat{.node = "n3", .renewal = Seconds{30}},
                                                core::SetRenewal{.node = "n4", .renewal = Seconds{10}}, core::DeleteReport{.node = "n5", .uid = "u"}};
  const Written written_now = bench.executor.run(actions, {}, {});
  EXPECT_EQ(bench.cluster().asked().size(), 5U);
  EXPECT_TRUE(written_now.failed) << "n1 is left to do";
  EXPECT_EQ(written_now.writes, 1);
  const std::vector<core::ReportAction> others(actions.begin() + 1, actions.end());
  EXPECT_FALSE(bench.executor.run(others, {}, {}).failed) << "taken, gone and replaced are answers like any other";
}

// From the apiserver's answer to what the user reads, and on: the job is told, waits, and goes on under other names.
TEST(Executor, AStrangersPodReachesTheJobAsAConditionAndIsPassedOver) {
  using namespace core::testing;
  Simulation sim(cluster(1, 2));
  add_job(sim.world, "qwen", 2);
  std::optional<core::Plan> creating;
  for (int i = 0; i < 6 && !creating; ++i) {
    for (const core::Plan& plan : core::plan_round(snapshot(sim.world)).plans) {
      if (!actions_of<core::CreatePods>(plan).empty()) {
        creating = plan;
      } else {
        sim.apply(plan);
      }
    }
  }
  ASSERT_TRUE(creating);

  Bench bench;
  bench.executor.set_now(sim.world.now);
  bench.cluster().answer([](const kube::Request& request) {
    if (request.path.ends_with("/secrets")) return kube::Reply{.status = 201, .body = "{}"};
    if (request.method == kube::Method::Get) return kube::Reply{.status = 200, .body = R"({"metadata":{"uid":"s"}})"};
    return refusal(409, "AlreadyExists", "pods already exists", "qwen-1-0");
  });
  EXPECT_TRUE(bench.run(*creating, sim.job("qwen")).failed);
  sim.world.dry_runs[sim.job("qwen").meta.uid] = bench.kept(sim.job("qwen"));

  const std::vector<core::Plan> told_now = sim.round();
  ASSERT_EQ(told_now.size(), 1U);
  const auto events = actions_of<core::EmitEvent>(told_now[0]);
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].reason, "PodNameTaken");
  EXPECT_NE(events[0].note.find("kubectl delete pod -n rl qwen-1-0"), std::string::npos) << events[0].note;
  EXPECT_EQ(sim.job("qwen").status.reason, "PodNameTaken");
  EXPECT_FALSE(sim.job("qwen").status.placement) << "it holds no nodes while it waits";

  sim.settle();
  EXPECT_EQ(sim.job("qwen").status.reason, "PodNameTaken") << "nothing is tried again at once";
  sim.advance(Seconds{61});
  sim.settle();
  EXPECT_EQ(sim.pods("qwen").size(), 2U);
  EXPECT_TRUE(sim.world.pods.contains("rl/qwen-2-0"));
}

TEST(Executor, OnlyAnApiserverThatServesNobodyIsCalledUnavailable) {
  for (const auto& [code, unavailable] : std::map<int, bool>{{403, false}, {409, false}, {413, false}, {422, false}, {429, true}, {500, false}, {503, true}, {504, true}}) {
    Bench bench;
    const int status = code;
    bench.cluster().answer([status](const kube::Request&) { return refusal(status, "Reason", "why"); });
    const Written by_status = bench.run(plan_of({}));
    EXPECT_EQ(by_status.failed, true) << code;
    EXPECT_EQ(by_status.unavailable, unavailable) << code;
    if (code < 500) continue;  // a refused dry run is an answer
    EXPECT_EQ(bench.run(plan_of({core::DryRunPods{.pods = {{"main", "{}"}}}})).unavailable, unavailable) << code;
  }
}

}  // namespace
}  // namespace verl::controller
