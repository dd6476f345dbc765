// What a pool's template may set, the trainer's command line, and NCCL settings of one node.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "builders.h"
#include "operator/core/admission.h"
#include "operator/core/nccl_environment.h"
#include "operator/core/pod_template.h"
#include "operator/core/trainer.h"

namespace verl::core::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Refusal {
  std::string json{};
  std::string sentence{};
};

std::string spec(const std::string& inner) { return R"({"spec":{)" + inner + "}}"; }
std::string ray(const std::string& inner) { return spec(R"("containers":[{"name":"ray",)" + inner + "}]"); }
std::string sidecar(const std::string& inner) { return spec(R"("containers":[{"name":"log","image":"x",)" + inner + "}]"); }

TEST(PodTemplate, RefusesByNameWhatItDoesNotAllow) {
  const std::vector<Refusal> table{
      {"", "t: is not JSON"},
      {"[]", "t: must be an object"},
      {"null", "t: must be an object"},
      {R"({"status":{}})", "t.status: it is not among the fields that a pool's template may set"},
      {R"({"spec":[]})", "t.spec: must be an object"},
      {R"({"metadata":{"name":"x"}})", "t.metadata.name: it is not among the fields that a pool's template may set"},
      {R"({"metadata":{"labels":[]}})", "t.metadata.labels: must be a map"},
      {R"({"metadata":{"labels":{"a":1}}})", "t.metadata.labels[a]: must be a string"},
      {R"({"metadata":{"labels":{"verl.run/rank":"0"}}})", "t.metadata.labels[verl.run/rank]: is the operator's"},
      {R"({"metadata":{"labels":{"app.kubernetes.io/name":"x"}}})", "t.metadata.labels[app.kubernetes.io/name]: is the operator's"},
      {R"({"metadata":{"annotations":{"karpenter.sh/do-not-disrupt":"false"}}})", "t.metadata.annotations[karpenter.sh/do-not-disrupt]: is the operator's"},
      {spec(R"("hostNetwork":false)"), "t.spec.hostNetwork: the operator sets it: the pods always run in the host's network"},
      {spec(R"("hostPID":true)"), "t.spec.hostPID: it would let Ray's clean-up end the processes of other jobs"},
      {spec(R"("hostIPC":true)"), "t.spec.hostIPC: it would share shared memory with other jobs"},
      {spec(R"("nodeName":"n1")"), "t.spec.nodeName: it goes round the scheduler's check of resources; the operator pins pods by affinity"},
      {spec(R"("affinity":{})"), "t.spec.affinity: the operator pins every pod to the node it was placed on; use nodeSelector to narrow the choice"},
      {spec(R"("schedulerName":"x")"), "t.spec.schedulerName: pods are bound by the cluster's own scheduler"},
      {spec(R"("restartPolicy":"Always")"), "t.spec.restartPolicy: it is Never: a Ray node that restarts alone belongs to no cluster"},
      {spec(R"("priorityClassName":"x")"), "t.spec.priorityClassName: use spec.priorityClassName of the job: queue order and pod priority are one thing"},
      {spec(R"("priority":5)"), "t.spec.priority: use spec.priorityClassName of the job"},
      {spec(R"("dnsPolicy":"Default")"), "t.spec.dnsPolicy: it is ClusterFirstWithHostNet"},
      {spec(R"("shareProcessNamespace":false)"), "t.spec.shareProcessNamespace: it is not among the fields that a pool's template may set"},
      {spec(R"("ephemeralContainers":[])"), "t.spec.ephemeralContainers: it is not among the fields that a pool's template may set"},
      {spec(R"("resourceClaims":[])"), "t.spec.resourceClaims: it is not among the fields that a pool's template may set"},
      {spec(R"("activeDeadlineSeconds":1)"), "t.spec.activeDeadlineSeconds: it is not among the fields that a pool's template may set"},
      {spec(R"("containers":{})"), "t.spec.containers: must be a list"},
      {spec(R"("containers":[1])"), "t.spec.containers[0]: must be an object with a name"},
      {spec(R"("containers":[{"name":"driver"}])"), "t.spec.containers[0].name: driver is a name of the operator's own"},
      {spec(R"("containers":[{"name":"verl-x"}])"), "t.spec.containers[0].name: verl-x is a name of the operator's own"},
      {spec(R"("containers":[{"name":"ray"},{"name":"ray"}])"), "t.spec.containers[1].name: appears twice"},
      {spec(R"("initContainers":[{"name":"ray"}])"), "t.spec.initContainers[0].name: ray is a name of the operator's own"},
      {spec(R"("initContainers":[{"name":"a","image":"x","restartPolicy":"Never"}])"), "t.spec.initContainers[0].restartPolicy: must be Always or absent"},
      {ray(R"("command":["sh"])"), "t.spec.containers[0].command: container ray runs the operator's Ray start script; the trainer's command is spec.trainer"},
      {ray(R"("args":["x"])"), "t.spec.containers[0].args: container ray runs the operator's Ray start script; the trainer's command is spec.trainer"},
      {ray(R"("image":"x")"), "t.spec.containers[0].image: the image of container ray is spec.image, equal on all pods"},
      {ray(R"("ports":[])"), "t.spec.containers[0].ports: the operator declares the job's port block"},
      {ray(R"("livenessProbe":{})"), "t.spec.containers[0].livenessProbe: it is not among the fields that a pool's template may set"},
      {ray(R"("lifecycle":{})"), "t.spec.containers[0].lifecycle: it is not among the fields that a pool's template may set"},
      {ray(R"("env":{})"), "t.spec.containers[0].env: must be a list"},
      {ray(R"("env":[{"value":"x"}])"), "t.spec.containers[0].env[0]: must be an object with a name"},
      {ray(R"("env":[{"name":"RAY_ADDRESS","value":"x"}])"), "t.spec.containers[0].env[0].name: RAY_ADDRESS is set by the operator"},
      {ray(R"("env":[{"name":"RAY_AUTH_MODE","value":"x"}])"), "t.spec.containers[0].env[0].name: RAY_AUTH_MODE is set by the operator"},
      {ray(R"("env":[{"name":"VERL_RUN_GPUS","value":"x"}])"), "t.spec.containers[0].env[0].name: VERL_RUN_GPUS is set by the operator"},
      {ray(R"("env":[{"name":"NCCL_IB_HCA","value":"x"}])"), "t.spec.containers[0].env[0].name: NCCL_IB_HCA belongs in spec.nccl.env, where it is the same for all pods"},
      {ray(R"("env":[{"name":"CUDA_VISIBLE_DEVICES","value":"0"}])"), "t.spec.containers[0].env[0].name: CUDA_VISIBLE_DEVICES is set by Ray and the device plugin"},
      {ray(R"("securityContext":{"privileged":true})"),
       "t.spec.containers[0].securityContext.privileged: a privileged container can change the node under other jobs; RDMA needs only IPC_LOCK, which is set"},
      {ray(R"("securityContext":{"privileged":"no"})"),
       "t.spec.containers[0].securityContext.privileged: a privileged container can change the node under other jobs; RDMA needs only IPC_LOCK, which is set"},
      {ray(R"("securityContext":{"procMount":"Unmasked"})"), "t.spec.containers[0].securityContext.procMount: it is not among the fields that a pool's template may set"},
      {ray(R"("securityContext":{"capabilities":{"add":["SYS_ADMIN"]}})"),
       "t.spec.containers[0].securityContext.capabilities.add: \"SYS_ADMIN\" is not allowed; IPC_LOCK and SYS_NICE are"},
      {ray(R"("securityContext":{"capabilities":{"add":["ALL"]}})"), "t.spec.containers[0].securityContext.capabilities.add: \"ALL\" is not allowed; IPC_LOCK and SYS_NICE are"},
      {ray(R"("resources":{"claims":[]})"), "t.spec.containers[0].resources.claims: it is not among the fields that a pool's template may set"},
      {ray(R"("resources":{"limits":{"cpu":"many"}})"), "t.spec.containers[0].resources.limits[cpu]: \"many\" is no quantity"},
      {ray(R"("resources":{"limits":{"cpu":"-1"}})"), "t.spec.containers[0].resources.limits[cpu]: \"-1\" is no quantity"},
      {ray(R"("resources":{"limits":{"nvidia.com/gpu":"4"}})"), "t.spec.containers[0].resources.limits[nvidia.com/gpu]: GPUs are asked for with gpusPerNode of the pool"},
      {ray(R"("resources":{"requests":{"cpu":"1"},"limits":{"cpu":"2"}})"),
       "t.spec.containers[0].resources: requests and limits of cpu differ; they must be equal, so that the pod is pinned to whole cores"},
      {sidecar(R"("ports":[{"containerPort":80,"hostPort":80}])"),
       "t.spec.containers[0].ports[0].hostPort: leave it out: in the host's network every containerPort is a host port already"},
      {sidecar(R"("securityContext":{"privileged":true})"),
       "t.spec.containers[0].securityContext.privileged: a privileged container can change the node under other jobs; RDMA needs only IPC_LOCK, which is set"},
      {sidecar(R"("resources":{"limits":{"nvidia.com/gpu":1}})"), "t.spec.containers[0].resources.limits[nvidia.com/gpu]: GPUs are asked for with gpusPerNode of the pool"},
      {sidecar(R"("stdin":true)"), "t.spec.containers[0].stdin: it is not among the fields that a pool's template may set"},
      {spec(R"("tolerations":[{"operator":"Exists"}])"), "t.spec.tolerations[0]: tolerates every taint, also those of dying nodes; name the key"},
      {spec(R"("tolerations":[{"key":"","operator":"Exists"}])"), "t.spec.tolerations[0]: tolerates every taint, also those of dying nodes; name the key"},
      {spec(R"("tolerations":[{"key":"node.kubernetes.io/unreachable","operator":"Exists"}])"),
       "t.spec.tolerations[0].key: node.kubernetes.io/unreachable marks nodes that are sick, cordoned or going away; the operator decides about those"},
      {spec(R"("volumes":[{"name":"shm","emptyDir":{}}])"), "t.spec.volumes[0].name: shm is a volume of the operator's own"},
      {spec(R"("volumes":[{"name":"verl-bin","emptyDir":{}}])"), "t.spec.volumes[0].name: verl-bin is a volume of the operator's own"},
      {spec(R"("initContainers":[{"name":"verl-check","image":"x"}])"), "t.spec.initContainers[0].name: verl-check is a name of the operator's own"},
      {spec(R"("volumes":[{"name":"v","gitRepo":{}}])"), "t.spec.volumes[0].gitRepo: is not a kind of volume that a template may use"},
      {spec(R"("volumes":[{"name":"v","hostPath":{"path":"/"}}])"), "t.spec.volumes[0].hostPath: / is not below one of the policy's allowed paths: /data"},
      {spec(R"("volumes":[{"name":"v","hostPath":{"path":"/database"}}])"), "t.spec.volumes[0].hostPath: /database is not below one of the policy's allowed paths: /data"},
      {spec(R"("volumes":[{"name":"v","hostPath":{"path":"/data/../etc"}}])"), "t.spec.volumes[0].hostPath: /data/../etc is not below one of the policy's allowed paths: /data"},
      {spec(R"("volumes":[{"name":"v","hostPath":1}])"), "t.spec.volumes[0].hostPath:  is not below one of the policy's allowed paths: /data"},
      {spec(R"("securityContext":{"sysctls":[]})"), "t.spec.securityContext.sysctls: it is not among the fields that a pool's template may set"},
  };
  for (const Refusal& one : table) {
    EXPECT_THAT(template_problems(one.json, "t", {"/data"}), ElementsAre(one.sentence)) << one.json;
  }
  EXPECT_THAT(template_problems(spec(R"("volumes":[{"name":"v","hostPath":{"path":"/data"}}])"), "t", {}),
              ElementsAre("t.spec.volumes[0].hostPath: no policy allows host paths; use a PersistentVolumeClaim"));
}

TEST(PodTemplate, AllowsWhatJobsNeed) {
  for (const std::string& json : std::vector<std::string>{
           "{}",
           R"({"metadata":{"labels":{"team":"rl"},"annotations":{"note":"x"}}})",
           spec(R"("nodeSelector":{"pool":"h100"},"imagePullSecrets":[{"name":"r"}],"serviceAccountName":"s","automountServiceAccountToken":true)"),
           spec(R"("securityContext":{"runAsUser":1000,"fsGroup":1000},"terminationGracePeriodSeconds":60,"runtimeClassName":"nvidia")"),
           spec(R"("tolerations":[{"key":"team","operator":"Equal","value":"rl","effect":"NoSchedule"}])"),
           spec(R"("volumes":[{"name":"data","persistentVolumeClaim":{"claimName":"d"}},{"name":"s","secret":{"secretName":"s"}},{"name":"h","hostPath":{"path":"/data/x"}}])"),
           ray(R"("env":[{"name":"HF_HOME","value":"/x"},{"name":"KEY","valueFrom":{"secretKeyRef":{"name":"s","key":"k"}}}],"envFrom":[],"imagePullPolicy":"Always")"),
           ray(R"("resources":{"requests":{"cpu":"8","memory":"64Gi"},"limits":{"cpu":"8","memory":"64Gi"}},"volumeMounts":[{"name":"data","mountPath":"/data"}])"),
           ray(R"("securityContext":{"capabilities":{"add":["SYS_NICE"],"drop":["NET_RAW"]},"privileged":false,"runAsUser":0})"),
           sidecar(R"("command":["x"],"ports":[{"containerPort":9400}],"livenessProbe":{},"workingDir":"/")"),
           spec(R"("initContainers":[{"name":"fetch","image":"x","command":["x"]},{"name":"log","image":"x","restartPolicy":"Always"}])"),
       }) {
    EXPECT_THAT(template_problems(json, "t", {"/data"}), IsEmpty()) << json;
  }
}

// ---- the trainer

api::VerlJobSpec two_pools() {
  api::VerlJobSpec made{.image = "x", .trainer = {.module = "verl.trainer.main_ppo"}};
  made.pools = {{.name = "main", .nodes = 4, .gpus_per_node = 8}, {.name = "rollout", .nodes = 2, .gpus_per_node = 4}};
  return made;
}

TEST(Trainer, IsToldTheSizesOfThePools) {
  api::VerlJobSpec made = two_pools();
  made.trainer.overrides = {{"algorithm.adv_estimator", "grpo"}, {"data.train_files", "a b;$(c)"}};
  EXPECT_THAT(trainer_argv(made),
              ElementsAre("python3", "-m", "verl.trainer.main_ppo", "actor_rollout_ref.rollout.n_gpus_per_node=4", "actor_rollout_ref.rollout.nnodes=2",
                          "algorithm.adv_estimator=grpo", "data.train_files=a b;$(c)", "trainer.n_gpus_per_node=8", "trainer.nnodes=4"));
  EXPECT_THAT(trainer_problems(made), IsEmpty());
}

TEST(Trainer, ACommandWithoutOverridesIsLeftAsItIs) {
  api::VerlJobSpec made = two_pools();
  made.trainer = {.command = {"bash", "run.sh"}};
  EXPECT_THAT(trainer_argv(made), ElementsAre("bash", "run.sh"));
}

TEST(Trainer, ContradictionsAreNamed) {
  api::VerlJobSpec made = two_pools();
  made.trainer.overrides = {{"trainer.nnodes", "4"}, {"++trainer.n_gpus_per_node", "4"}, {"~actor_rollout_ref.rollout.nnodes", "2"}, {"+ray_kwargs.ray_init.num_cpus", "9"}};
  EXPECT_THAT(trainer_problems(made),
              ElementsAre("spec.trainer.overrides[++trainer.n_gpus_per_node]: 4 contradicts spec.pools, which say 8; leave it out, the operator fills it in",
                          "spec.trainer.overrides[+ray_kwargs.ray_init.num_cpus]: the trainer joins a running Ray cluster, which cannot be resized; leave it out",
                          "spec.trainer.overrides[~actor_rollout_ref.rollout.nnodes]: 2 contradicts spec.pools, which say 2; leave it out, the operator fills it in"));
  made.trainer = {.module = "a", .overrides = {{"a=b c", "1"}}};
  EXPECT_THAT(trainer_problems(made), ElementsAre("spec.trainer.overrides[a=b c]: the key has a space or an equals sign in it, so verl would read another key; "
                                                  "write the value after the colon"));
  made.trainer = {.module = "a"};
  made.pools[1].name = "banana";
  EXPECT_THAT(trainer_problems(made),
              ElementsAre("spec.pools[1].name: verl knows no pool banana, its GPUs would stay idle; after the first, which is the trainer's, pools are "
                          "rollout, reward and teacher (a trainer started by command may use any)"));
  made.trainer = {.command = {"b"}};
  EXPECT_THAT(trainer_problems(made), IsEmpty());
  made.trainer = {.module = "a", .command = {"b"}};
  made.pools[1].name = "reward";
  EXPECT_THAT(trainer_problems(made), ElementsAre("spec.trainer: exactly one of module and command is needed"));
}

// ---- NCCL

TEST(NcclEnvironment, IsResolvedForEachNode) {
  const World world = cluster(1, 1);
  api::NodeReadiness report = world.reports.at("n00");
  api::VerlJobSpec made{};
  using Env = std::map<std::string, std::string>;
  const Env control{{"NCCL_DEBUG", "WARN"}, {"NCCL_SOCKET_IFNAME", "=eth0"}, {"GLOO_SOCKET_IFNAME", "eth0"}};
  const auto with = [&](Env more) {
    more.insert(control.begin(), control.end());
    return more;
  };
  made.network.transport = api::Transport::RoCE;
  EXPECT_EQ(nccl_environment(made, report), with({{"NCCL_IB_HCA", "=mlx5_0:1,mlx5_1:1"}}));
  report.status.rdma[0].state = "DOWN";
  EXPECT_EQ(nccl_environment(made, report), with({{"NCCL_IB_HCA", "=mlx5_0:1"}})) << "a port that is down is no rail";
  report.status.rdma[1].netdev = "eth0";
  report.status.rdma[0].state = "ACTIVE";
  EXPECT_EQ(nccl_environment(made, report), with({{"NCCL_IB_HCA", "=mlx5_1:1"}})) << "the control interface is no rail beside others";
  made.network.transport = api::Transport::TCP;
  EXPECT_EQ(nccl_environment(made, report), with({{"NCCL_IB_DISABLE", "1"}}));
  made.network.transport = api::Transport::InfiniBand;
  EXPECT_EQ(nccl_environment(made, report), control);
  for (auto& port : report.status.rdma) port.link_layer = "InfiniBand";
  EXPECT_EQ(nccl_environment(made, report), with({{"NCCL_IB_HCA", "=mlx5_1:1"}}));
  made.nccl_env = {{"NCCL_IB_HCA", "=mlx5_9"}, {"NCCL_ALGO", "Ring"}};
  EXPECT_EQ(nccl_environment(made, report), with({{"NCCL_IB_HCA", "=mlx5_9"}, {"NCCL_ALGO", "Ring"}}));
  EXPECT_EQ(nccl_environment(made, report).count("NCCL_IB_GID_INDEX"), 0U);
}

TEST(NcclEnvironment, HoldsNoForeignVariables) {
  EXPECT_THAT(nccl_env_problems({{"NCCL_X", ""}, {"UCX_TLS", ""}, {"TORCH_NCCL_X", ""}, {"GLOO_X", ""}}), IsEmpty());
  EXPECT_EQ(nccl_env_problems({{"LD_PRELOAD", ""}, {"PATH", ""}, {"RAY_ADDRESS", ""}}).size(), 3U);
}

// ---- the spec as a whole

TEST(Admission, NamesEveryFaultOfTheSpec) {
  Config config{.levels = {{.name = "rack", .key = "r"}}};
  api::VerlJob job{.spec = two_pools()};
  EXPECT_EQ(spec_problem(config, job, {}), std::nullopt);
  job.spec.image.clear();
  job.spec.pools[0].nodes = 0;
  job.spec.pools[1].name = "main";
  job.spec.pools[1].gpus_per_node = 17;
  job.spec.topology = {.level = "row"};
  EXPECT_EQ(spec_problem(config, job, {}),
            (AdmissionProblem{.reason = "InvalidSpec",
                              .message = "spec.image: is empty, spec.pools[0].nodes: 0; a pool needs at least one node, spec.pools[1].name: main appears twice, "
                                         "spec.pools[1].gpusPerNode: 17; a node has at most 16 GPUs, ask for more nodes, spec.topology.level: row is no level of this "
                                         "cluster; levels: rack",
                              .terminal = true}));
}

TEST(Admission, WhatDidNotDecodeIsRefusedByName) {
  api::VerlJob job{.spec = two_pools(), .unreadable = {"spec.pools[0].nodes: \"four\" is no number"}};
  EXPECT_EQ(spec_problem({}, job, {})->message, "spec.pools[0].nodes: \"four\" is no number");
}

}  // namespace
}  // namespace verl::core::testing
