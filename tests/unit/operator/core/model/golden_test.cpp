// What the core renders, as files that are reviewed like code. VERL_UPDATE_GOLDENS=1 writes them anew; a test that finds a
// difference fails, the run that wrote it included. tests/ray runs three_nodes.json with real Ray.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "base/quantity.h"
#include "builders.h"
#include "operator/core/incontainer_scripts.h"
#include "operator/core/ledger.h"

namespace verl::core::testing {
namespace {

using nlohmann::json;

void expect_golden(const std::string& path, const std::string& text) {
  const char* source = std::getenv("VERL_SOURCE");
  const std::string file = fmt::format("{}/{}", source == nullptr ? "." : source, path);
  std::ifstream in(file, std::ios::binary);
  std::ostringstream there;
  there << in.rdbuf();
  if (there.str() == text) return;
  if (std::getenv("VERL_UPDATE_GOLDENS") != nullptr) std::ofstream(file, std::ios::binary) << text;
  size_t at = 0;
  const std::string& old = there.str();
  while (at < old.size() && at < text.size() && old[at] == text[at]) ++at;
  const size_t from = at < 80 ? 0 : at - 80;
  ADD_FAILURE() << path << " differs at byte " << at << " (VERL_UPDATE_GOLDENS=1 writes it anew)\n there: " << old.substr(from, 200)
                << "\n   now: " << text.substr(from, 200);
}

json parsed(const std::string& text) { return json::parse(text); }

std::vector<json> created(const Plan& plan) {
  std::vector<json> pods;
  for (const CreatePods& create : actions_of<CreatePods>(plan)) {
    for (const auto& pod : create.pods) pods.push_back(parsed(pod.second));
  }
  return pods;
}

// Rounds until pods are made; what these are.
std::vector<json> pods_of(World world) {
  Simulation sim(std::move(world));
  for (int i = 0; i < 5; ++i) {
    for (const Plan& plan : sim.round()) {
      const auto pods = created(plan);
      if (!pods.empty()) return pods;
    }
  }
  ADD_FAILURE() << "no pod was made: " << condition(sim.world.jobs.begin()->second.status, "Ready").message;
  return {};
}

constexpr const char* kToolsImage = "registry.example/verl-operator/verl-node-agent:0.1.0";

World two_node_world() {
  World world = cluster(1, 2);
  world.config.tools_image = kToolsImage;
  world.policies["p"].spec.rdma_resource = "rdma/hca";
  world.policies["p"].spec.expectations.inventory.rdma_devices = 2;
  for (auto& entry : world.nodes) entry.second.allocatable["rdma/hca"] = 8'000;
  for (auto& entry : world.reports) {
    entry.second = passing_report(world, world.nodes[entry.first]);
    entry.second.status.findings.push_back(pass("rdma-device-count"));
  }
  api::VerlJob& job = add_job(world, "qwen-grpo", 2);
  job.spec.trainer.overrides = {{"algorithm.adv_estimator", "grpo"}, {"data.train_files", "/data/$(SET)/train.parquet"}};
  job.spec.network.transport = api::Transport::RoCE;
  job.spec.nccl_env = {{"NCCL_DEBUG", "INFO"}};
  job.spec.numa = api::NumaMode::Required;
  job.spec.pools[0].template_json =
      R"({"metadata":{"labels":{"team":"rl"}},"spec":{"volumes":[{"name":"data","persistentVolumeClaim":{"claimName":"datasets"}}],)"
      R"("tolerations":[{"key":"team","operator":"Equal","value":"rl","effect":"NoSchedule"}],)"
      R"("containers":[{"name":"ray","env":[{"name":"HF_HOME","value":"/data/hf"}],"volumeMounts":[{"name":"data","mountPath":"/data"}],)"
      R"("securityContext":{"capabilities":{"add":["SYS_NICE"]}}},)"
      R"({"name":"metrics","image":"registry.example/exporter:1","ports":[{"containerPort":9400}]}],)"
      R"("initContainers":[{"name":"fetch","image":"registry.example/fetch:1"}]}})";
  return world;
}

const std::vector<json>& two_node_pods() {
  static const std::vector<json> kPods = pods_of(two_node_world());
  return kPods;
}

// The scripts have tests of their own; here their names are enough.
json without_scripts(json pod) {
  for (json& container : pod["spec"]["containers"]) {
    if (!container.contains("command")) continue;
    for (json& word : container["command"]) {
      if (word == std::string(kRayNodeScript)) word = "<operator/core/incontainer/ray_node.sh>";
      if (word == std::string(kDriverGateScript)) word = "<operator/core/incontainer/driver_gate.py>";
    }
  }
  return pod;
}

TEST(Golden, ThePodsOfATwoNodeJob) {
  json all = json::array();
  for (const json& pod : two_node_pods()) all.push_back(without_scripts(pod));
  expect_golden("tests/golden/core/two_node_pods.json", all.dump(2) + "\n");
}

TEST(Golden, ThePlansOfALife) {
  std::string text;
  Simulation sim(cluster(2, 2));
  add_job(sim.world, "a", 2).spec.recovery.infrastructure_restarts = 1;
  const auto stage = [&](const std::string& title, int rounds) {
    text += "## " + title + "\n";
    for (int i = 0; i < rounds; ++i) {
      const auto plans = sim.round();
      text += plans.empty() ? "nothing\n" : "";
      for (const Plan& plan : plans) text += told(plan);
      text += i + 1 < rounds ? "--\n" : "\n";
    }
  };
  stage("a new job: dry run, then a placement alone, then pods, then nothing until something changes", 4);
  sim.bind();
  stage("the scheduler has bound the pods", 2);
  sim.start();
  stage("the containers run", 2);
  sim.pass_gate("a");
  stage("the gate has let the trainer start", 2);
  sim.world.nodes["n01"].boot_id = "another";
  stage("a node reboots: the end is written, then the pods go", 3);
  sim.remove_deleted();
  sim.advance(Seconds{10});
  stage("the pods are gone: the next attempt is placed on other nodes and made", 3);
  sim.bind();
  sim.start();
  sim.pass_gate("a");
  stage("and runs", 2);
  sim.end_driver("a", 0, kPassed);
  stage("the trainer ends well", 2);
  sim.advance(Seconds{30});
  stage("half a minute later the workers go", 2);
  expect_golden("tests/golden/core/life.txt", text);
}

// Nodes as small as they may be, so that three Ray nodes fit on one machine.
TEST(Golden, ThePodsThatRealRayRuns) {
  World world{};
  world.config = cluster(1, 1).config;
  world.config.tools_image = kToolsImage;
  world.classes = cluster(1, 1).classes;
  world.policies = cluster(1, 1).policies;
  world.policies["p"].spec.memory_per_gpu = Bytes{kGiB.count};
  for (const auto& [name, address] : std::map<std::string, std::string>{{"n04", "10.77.0.4"}, {"n08", "10.77.0.8"}, {"n12", "10.77.0.12"}}) {
    world.nodes[name] = node(name, "r0", address);
    world.nodes[name].allocatable = {{"cpu", 4'000}, {"memory", 4 * kGiB.count * 1000}, {"pods", 110'000}, {"nvidia.com/gpu", 2'000}};
    world.ages[name] = Seconds{1};
  }
  for (const auto& entry : world.nodes) world.reports[entry.first] = passing_report(world, entry.second);
  add_job(world, "three-nodes", 3, 2);
  json all = json::array();
  for (const json& pod : pods_of(world)) all.push_back(pod);
  ASSERT_EQ(all.size(), 3U);
  expect_golden("tests/ray/pods/three_nodes.json", all.dump(1) + "\n");
}

// ---- what every pod must be, said once more in words

const json& container(const json& pod, const std::string& name) {
  static const json kNone;
  for (const json& one : pod["spec"]["containers"]) {
    if (one["name"] == name) return one;
  }
  ADD_FAILURE() << "no container " << name;
  return kNone;
}

std::map<std::string, std::string> env_of(const json& from) {
  std::map<std::string, std::string> env;
  for (const json& one : from["env"]) {
    EXPECT_TRUE(env.emplace(one["name"], one.value("value", "")).second) << "set twice: " << one["name"];
  }
  return env;
}

std::int64_t bytes(const json& quantity) { return parse_quantity(quantity.get<std::string>()).value_or(-1); }

TEST(Pod, IsPinnedAndLeftToTheScheduler) {
  for (const json& pod : two_node_pods()) {
    const json& spec = pod["spec"];
    EXPECT_EQ(spec["hostNetwork"], true);
    EXPECT_EQ(spec["dnsPolicy"], "ClusterFirstWithHostNet");
    EXPECT_EQ(spec["restartPolicy"], "Never");
    EXPECT_EQ(spec["automountServiceAccountToken"], false);
    EXPECT_EQ(spec["priorityClassName"], "verl-job");
    EXPECT_FALSE(spec.contains("nodeName"));
    EXPECT_FALSE(spec.contains("schedulerName"));
    const json& term = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"];
    ASSERT_EQ(term.size(), 1U);
    EXPECT_EQ(term[0]["matchFields"], json::parse(fmt::format(R"([{{"key":"metadata.name","operator":"In","values":["{}"]}}])",
                                                              pod["metadata"]["name"] == "qwen-grpo-1-0" ? "n00" : "n01")));
    EXPECT_EQ(pod["metadata"]["annotations"]["karpenter.sh/do-not-disrupt"], "true");
    EXPECT_EQ(pod["metadata"]["annotations"]["cluster-autoscaler.kubernetes.io/safe-to-evict"], "false");
    const json& owner = pod["metadata"]["ownerReferences"][0];
    EXPECT_EQ(owner["uid"], "job-qwen-grpo");
    EXPECT_EQ(owner["controller"], true);
  }
}

TEST(Pod, ToleratesADyingNodeForAMinuteAndNothingBlankly) {
  for (const json& pod : two_node_pods()) {
    std::map<std::string, std::int64_t> seconds;
    for (const json& one : pod["spec"]["tolerations"]) {
      EXPECT_NE(one.value("key", ""), "");
      if (one["key"].get<std::string>().starts_with("node.kubernetes.io/")) seconds[one["key"]] = one["tolerationSeconds"];
    }
    EXPECT_EQ(seconds, (std::map<std::string, std::int64_t>{{"node.kubernetes.io/not-ready", 60}, {"node.kubernetes.io/unreachable", 60}}));
  }
}

TEST(Pod, AsksForWholeCoresWithRequestsEqualToLimits) {
  for (const json& pod : two_node_pods()) {
    std::int64_t cores = 0;
    std::int64_t memory = 0;
    for (const json& one : pod["spec"]["containers"]) {
      if (one["name"] == "metrics") continue;
      EXPECT_EQ(one["resources"]["requests"], one["resources"]["limits"]);
      cores += std::stoll(one["resources"]["requests"]["cpu"].get<std::string>());
      memory += bytes(one["resources"]["requests"]["memory"]);
    }
    EXPECT_EQ(cores, 64) << "a pod with all GPUs takes all cores";
    EXPECT_EQ(memory, 800 * kGiB.count) << "the policy's memory per GPU";
    EXPECT_EQ(container(pod, "ray")["resources"]["limits"]["nvidia.com/gpu"], "8");
    EXPECT_EQ(container(pod, "ray")["resources"]["limits"]["rdma/hca"], "2");
    std::int64_t shm = 0;
    for (const json& volume : pod["spec"]["volumes"]) {
      if (volume["name"] == "shm") shm = bytes(volume["emptyDir"]["sizeLimit"]);
    }
    EXPECT_EQ(shm, memory / 2);
    const std::int64_t store = std::stoll(env_of(container(pod, "ray"))["VERL_RUN_OBJECT_STORE_BYTES"]);
    EXPECT_GT(store, 0);
    EXPECT_LE(store, shm * 6 / 10);
  }
}

TEST(Pod, BringsTheCheckOfItsInsideBeforeAnythingOfTheUsers) {
  for (const json& pod : two_node_pods()) {
    const json& init = pod["spec"]["initContainers"];
    ASSERT_EQ(init.size(), 2U);
    EXPECT_EQ(init[0]["name"], "verl-check");
    EXPECT_EQ(init[0]["image"], kToolsImage);
    EXPECT_EQ(init[1]["name"], "fetch");
    const std::string folder = init[0]["command"][2];
    EXPECT_EQ(init[0]["volumeMounts"], json::parse(fmt::format(R"([{{"name":"verl-bin","mountPath":"{}"}}])", folder)));
    const json& ray = container(pod, "ray");
    EXPECT_EQ(env_of(ray).at("VERL_RUN_CHECK"), folder + "/verl-container-check");
    EXPECT_EQ(env_of(ray).at("VERL_RUN_NUMA"), "Required");
    EXPECT_EQ(std::count_if(ray["volumeMounts"].begin(), ray["volumeMounts"].end(),
                            [&](const json& mount) { return mount["name"] == "verl-bin" && mount["mountPath"] == folder && mount["readOnly"] == true; }),
              1);
  }
}

TEST(Pod, TheCheckTakesNothingFromTheNodeAndHasNoRights) {
  for (const json& pod : two_node_pods()) {
    const json& init = pod["spec"]["initContainers"][0];
    EXPECT_EQ(init["resources"]["requests"], init["resources"]["limits"]) << "or the pod is no longer Guaranteed";
    const json& ray = container(pod, "ray")["resources"]["requests"];
    for (const auto& item : init["resources"]["requests"].items()) {
      EXPECT_LE(parse_quantity_milli(item.value().get<std::string>()), parse_quantity_milli(ray[item.key()].get<std::string>())) << item.key();
    }
    EXPECT_EQ(init["securityContext"],
              json::parse(R"({"runAsNonRoot":true,"runAsUser":65532,"runAsGroup":65532,"allowPrivilegeEscalation":false,"readOnlyRootFilesystem":true,)"
                          R"("seccompProfile":{"type":"RuntimeDefault"},"capabilities":{"drop":["ALL"]}})"));
  }
}

TEST(Pod, TheDriverAsksForNoGpu) {
  const json driver = container(two_node_pods()[0], "driver");
  EXPECT_EQ(driver["resources"]["requests"], json::parse(R"({"cpu":"1","memory":"4Gi"})"));
}

TEST(Pod, EveryContainerOfOursKnowsItsRay) {
  for (const json& pod : two_node_pods()) {
    for (const json& one : pod["spec"]["containers"]) {
      if (one["name"] == "metrics") continue;
      auto env = env_of(one);
      EXPECT_EQ(env["RAY_ADDRESS"], "10.0.0.0:20000");
      EXPECT_EQ(env["RAY_AUTH_MODE"], "token");
      EXPECT_EQ(env["RAY_AUTH_TOKEN_PATH"], "/run/verl/ray-token/auth_token");
      EXPECT_EQ(env["VERL_RUN_TERMINATION_LOG"], one["terminationMessagePath"]);
      EXPECT_EQ(env["NCCL_IB_HCA"], "=mlx5_0:1,mlx5_1:1");
      EXPECT_EQ(env["NCCL_SOCKET_IFNAME"], "=eth0");
      EXPECT_EQ(env["GLOO_SOCKET_IFNAME"], "eth0");
      EXPECT_EQ(env["NCCL_DEBUG"], "INFO");
      EXPECT_EQ(env["HF_HOME"], "/data/hf");
      EXPECT_FALSE(env.contains("NCCL_IB_GID_INDEX"));
      std::vector<std::string> mounts;
      for (const json& mount : one["volumeMounts"]) mounts.push_back(mount["mountPath"]);
      if (one["name"] == "ray") {
        EXPECT_THAT(mounts, ::testing::ElementsAre("/tmp/ray", "/dev/shm", "/run/verl/ray-token", "/run/verl/bin", "/data"));
      } else {
        EXPECT_THAT(mounts, ::testing::ElementsAre("/tmp/ray", "/dev/shm", "/run/verl/ray-token", "/data"));
      }
    }
  }
}

TEST(Pod, TheGateIsToldTheWholeGangAndOutlastsTheOperatorsDeadlines) {
  const auto env = env_of(container(two_node_pods()[0], "driver"));
  EXPECT_EQ(json::parse(env.at("VERL_RUN_EXPECTED_NODES")),
            json::parse(R"([{"rank":0,"node":"n00","address":"10.0.0.0","gpus":8,"cpus":64},{"rank":1,"node":"n01","address":"10.0.0.1","gpus":8,"cpus":64}])"));
  EXPECT_GT(std::stoll(env.at("VERL_RUN_GATE_SECONDS")), 1800 + 600);
  EXPECT_EQ(json::parse(env.at("VERL_RUN_TRAINER")).back(), "trainer.nnodes=2");
  EXPECT_EQ(two_node_pods()[0]["spec"]["shareProcessNamespace"], true);
  EXPECT_FALSE(two_node_pods()[1]["spec"].contains("shareProcessNamespace"));
  for (const json& pod : two_node_pods()) {
    for (const json& one : pod["spec"]["containers"]) {
      EXPECT_TRUE(one["name"] != "driver" || pod["metadata"]["labels"]["verl.run/rank"] == "0");
    }
  }
}

TEST(Pod, NoVariableOfALargeGangIsMoreThanTheKernelTakes) {
  api::VerlJob job{};
  job.spec.pools = {{.name = "main", .nodes = 1024, .gpus_per_node = 8}};
  std::vector<RankInput> all;
  api::Placement placement{.attempt = 1, .port_base = 20000};
  for (std::int32_t i = 0; i < 1024; ++i) {
    placement.ranks.push_back({.rank = i, .pool = "main", .node = std::string(248, 'n') + std::to_string(10000 + i), .address = "fd00:1234:5678:9abc:def0:1234:5678:9abc"});
    all.push_back({.rank = placement.ranks.back(), .size = {.cores = 64, .memory = kLeastMemory, .gpus = 8}, .environment = {}});
  }
  const auto env = env_of(container(json::parse(render_pod(Config{}, job, placement, all, 0)), "driver"));
  size_t nodes = 0;
  for (const auto& [name, value] : env) {
    EXPECT_LT(name.size() + 1 + value.size() + 1, size_t{131072}) << name;
    if (name.starts_with("VERL_RUN_EXPECTED_NODES")) nodes += json::parse(value).size();
  }
  EXPECT_EQ(nodes, 1024U);
  EXPECT_TRUE(env.contains("VERL_RUN_EXPECTED_NODES_4"));
}

TEST(Pod, WhatUsersWroteArrivesAsTheyWroteIt) {
  const std::string trainer = env_of(container(two_node_pods()[0], "driver")).at("VERL_RUN_TRAINER");
  EXPECT_NE(trainer.find("/data/$$(SET)/train.parquet"), std::string::npos) << "the kubelet reads $$ as $ and would expand $(SET)";
}

TEST(Pod, DeclaresItsPortsSoThatTheSchedulerArbitrates) {
  std::vector<std::int32_t> ports;
  for (const json& port : container(two_node_pods()[1], "ray")["ports"]) {
    EXPECT_EQ(port["containerPort"], port["hostPort"]);
    EXPECT_LE(port["name"].get<std::string>().size(), 15U);
    ports.push_back(port["hostPort"]);
  }
  EXPECT_EQ(ports, (std::vector<std::int32_t>{20000, 20001, 20002, 20003, 20004, 20005, 20006, 20007, 20008, 20009, 20010}));
}

TEST(Pod, NoSecretIsInIt) {
  World world = two_node_world();
  world.jobs.begin()->second.spec.ray_authentication = api::RayAuthentication::Disabled;
  for (const json& pod : pods_of(world)) {
    EXPECT_EQ(pod.dump().find("ray-token\""), std::string::npos);
    EXPECT_EQ(env_of(container(pod, "ray"))["RAY_AUTH_MODE"], "disabled");
  }
  const json secret = parsed(render_token_secret(world.jobs.begin()->second));
  EXPECT_FALSE(secret.contains("data"));
  EXPECT_EQ(secret["immutable"], true);
  EXPECT_EQ(secret["metadata"]["ownerReferences"][0]["uid"], "job-qwen-grpo");
}

TEST(Pod, TheDriversShareOfMemoryFollowsThePods) {
  EXPECT_EQ(driver_memory(Bytes{2 * kGiB.count}), kGiB);
  EXPECT_EQ(driver_memory(Bytes{16 * kGiB.count}).count, 2 * kGiB.count);
  EXPECT_EQ(driver_memory(Bytes{1600 * kGiB.count}).count, 4 * kGiB.count);
}

}  // namespace
}  // namespace verl::core::testing
